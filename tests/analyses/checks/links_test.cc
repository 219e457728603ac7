// Each check of launches and ids has a trace that it finds something in, and one just below its
// threshold.
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/checks.h>

#include "analyses/checks/made_checks.h"
#include "fixtures/trace_rows.h"

namespace tbtrace {
namespace {

using check_fixtures::described;
using check_fixtures::finding;
using check_fixtures::Launches;
using fixtures::add;
using fixtures::finished;
using testing::HasSubstr;
using testing::Not;

TEST(TraceChecks, LaunchesWithoutKernels) {
  Launches above;
  above.launch(100);
  above.kernels(1, 98);
  EXPECT_EQ(described(above.trace(), "launches_without_kernels"), "warning 2 cudaLaunchKernel");
  Launches below;
  below.launch(100);
  below.kernels(1, 99);
  EXPECT_EQ(described(below.trace(), "launches_without_kernels"), "info 1 cudaLaunchKernel");
  Launches all;
  all.launch(2);
  EXPECT_EQ(described(all.trace(), "launches_without_kernels"), "error 2 cudaLaunchKernel");
  Launches captured;  // in a graph, which is then launched
  captured.launch(50);
  captured.launch(1, "cudaGraphLaunch");
  captured.kernels(51, 51);
  EXPECT_EQ(described(captured.trace(), "launches_without_kernels"), "info 50 cudaLaunchKernel");
  Launches lost;
  lost.launch(2, "cudaGraphLaunch");
  EXPECT_EQ(described(lost.trace(), "launches_without_kernels"), "error 2 cudaGraphLaunch");
  Launches no_launch;
  no_launch.launch(2, "cudaLaunchHostFunc");
  no_launch.launch(2, "cudaEventRecord");
  EXPECT_EQ(described(no_launch.trace(), "launches_without_kernels"), "");
}

TEST(TraceChecks, KernelsWithoutLaunch) {
  Launches above;
  above.launch(94);
  above.kernels(1, 100);
  const Trace many = above.trace();
  EXPECT_EQ(described(many, "kernels_without_launch"), "warning 6 gemm");
  Launches below;
  below.launch(95);
  below.kernels(1, 100);
  const Trace few = below.trace();
  EXPECT_EQ(described(few, "kernels_without_launch"), "info 5 gemm");
}

TEST(TraceChecks, KernelsWithoutLaunchMayBeFewThatTakeLong) {
  Launches one_long;
  one_long.launch(99);
  one_long.kernels(1, 99);
  one_long.kernel(100, 20, 1000);
  EXPECT_EQ(described(one_long.trace(), "kernels_without_launch"), "warning 1 gemm");
}

TEST(TraceChecks, WhatWasRecordedIsNotAskedFor) {
  Launches nothing_of_the_host;
  nothing_of_the_host.kernels(1, 10);
  const std::vector<CheckFinding> all = trace_checks(nothing_of_the_host.trace());
  ASSERT_NE(finding(all, "kernels_without_launch"), nullptr);
  EXPECT_THAT(finding(all, "kernels_without_launch")->remedy, HasSubstr("record CPU activities"));
  // Of a device whose launches have names of their own.
  Launches some;
  some.launch(5, "someRuntimeEnqueue");
  some.kernels(1, 10);
  const std::vector<CheckFinding> few = trace_checks(some.trace());
  ASSERT_NE(finding(few, "kernels_without_launch"), nullptr);
  EXPECT_THAT(finding(few, "kernels_without_launch")->remedy,
              Not(HasSubstr("record CPU activities")));
}

TEST(TraceChecks, LaunchesOfACaptureAreNotLost) {
  Launches captured;  // and the graph is not launched in the recording
  captured.launch(1, "cudaStreamBeginCapture_v10000");
  captured.launch(50);
  captured.launch(1, "cudaStreamEndCapture");
  EXPECT_EQ(described(captured.trace(), "launches_without_kernels"), "");
  Launches after_a_capture;
  after_a_capture.launch(1, "cudaStreamBeginCapture_v10000");
  after_a_capture.launch(1, "cudaStreamEndCapture");
  after_a_capture.launch(2);
  EXPECT_EQ(described(after_a_capture.trace(), "launches_without_kernels"),
            "error 2 cudaLaunchKernel");
}

TEST(TraceChecks, WorkBeforeItsLaunch) {
  Launches above;
  above.launch(100);
  above.kernels(1, 98);
  above.kernel(99, -1001);
  above.kernel(100, -1001);
  EXPECT_EQ(described(above.trace(), "work_before_launch"), "warning 2 gemm");
  Launches few;
  few.launch(100);
  few.kernels(1, 99);
  few.kernel(100, -1001);
  EXPECT_EQ(described(few.trace(), "work_before_launch"), "info 1 gemm");
  Launches little;
  little.launch(1);
  little.kernel(1, -1000);
  EXPECT_EQ(described(little.trace(), "work_before_launch"), "") << "the clock's step";
}

TEST(TraceChecks, RepeatedCorrelations) {
  Launches twice;
  twice.launch(2);
  --twice.correlation;
  twice.launch(1);
  twice.kernels(1, 2);
  EXPECT_EQ(described(twice.trace(), "repeated_correlations"), "warning 1 cudaLaunchKernel");
  TraceBuilder builder;
  for (const std::int64_t process : {1, 2}) {
    add(builder, {.category = "cuda_runtime",
                  .name = "cudaLaunchKernel",
                  .start = 5,
                  .duration = 1,
                  .process = process,
                  .correlation = 4});
  }
  EXPECT_EQ(described(finished(builder), "repeated_correlations"), "") << "of two processes";
}

TEST(TraceChecks, RepeatedExternalIds) {
  const auto with = [](int repeated) {
    TraceBuilder builder;
    for (int op = 0; op < 100; ++op) {
      add(builder, {.name = "aten::mm",
                    .start = op,
                    .duration = 1,
                    .external_id = op < repeated ? 100 : op + 1});
    }
    return finished(builder);
  };
  EXPECT_EQ(described(with(2), "repeated_external_ids"), "warning 2 aten::mm");
  EXPECT_EQ(described(with(1), "repeated_external_ids"), "info 1 aten::mm");
}

TEST(TraceChecks, InvalidExternalIds) {
  const auto with = [](std::int64_t shift) {
    TraceBuilder builder;
    for (std::int64_t id = 1; id < 20; ++id) {
      add(builder, {.name = "aten::mm", .start = 10 * id, .duration = 5, .external_id = id + 500});
      add(builder, {.category = "cuda_runtime",
                    .name = "cudaLaunchKernel",
                    .start = 10 * id + 1,
                    .duration = 1,
                    .external_id = id + shift,
                    .correlation = id});
      add(builder, {.category = "kernel",
                    .name = "gemm",
                    .start = 10 * id + 2,
                    .duration = 1,
                    .thread = 7,
                    .process = 0,
                    .external_id = id + shift,
                    .correlation = id});
    }
    return finished(builder);
  };
  EXPECT_EQ(described(with(0), "invalid_external_ids"), "info 19 cudaLaunchKernel");
  EXPECT_EQ(described(with(500), "invalid_external_ids"), "");
}

}  // namespace
}  // namespace tbtrace
