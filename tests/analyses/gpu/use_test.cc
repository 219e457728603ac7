#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/gpu.h>

#include "fixtures/trace_rows.h"

namespace tbtrace {
namespace {

using fixtures::add;

void add_kernel(TraceBuilder& builder, std::int64_t start, std::int64_t duration,
                std::int64_t correlation, std::int64_t stream = 7, std::int64_t device = 0) {
  add(builder, {.category = "kernel",
                .name = "gemm",
                .start = start,
                .duration = duration,
                .thread = stream,
                .process = device,
                .correlation = correlation});
}

void add_launch(TraceBuilder& builder, std::int64_t start, std::int64_t correlation) {
  add(builder, {.category = "cuda_runtime",
                .name = "cudaLaunchKernel",
                .start = start,
                .duration = 5,
                .correlation = correlation});
}

GpuUse only_row(const Trace& trace, const GpuOptions& options = {}) {
  const auto rows = gpu_use(trace, options);
  EXPECT_EQ(rows->size(), 1U);
  return rows->front();
}

TEST(GpuUse, AGapBelongsToTheActivityThatEndsIt) {
  TraceBuilder builder;
  add_launch(builder, 0, 1);
  add_launch(builder, 60, 2);  // while the GPU is idle
  add_launch(builder, 70, 3);  // long before its kernel, which follows soon
  add_launch(builder, 80, 4);  // long before its kernel, which follows late
  add_kernel(builder, 10, 40, 1);
  add_kernel(builder, 100, 100, 2);
  add_kernel(builder, 210, 100, 3);
  add_kernel(builder, 40'000, 10, 4);
  const GpuUse use = only_row(fixtures::finished(builder));
  EXPECT_EQ(use.window_ns, 40'000);
  EXPECT_EQ(use.idle_host_wait_ns, 50);
  EXPECT_EQ(use.idle_kernel_wait_ns, 10);
  EXPECT_EQ(use.idle_other_ns, 39'690);
  EXPECT_EQ(use.idle_ns, 39'750);
}

TEST(GpuUse, AKernelWithinALongerOneMakesNoGap) {
  TraceBuilder builder;
  add_kernel(builder, 0, 100, 0, 7);
  add_kernel(builder, 10, 5, 0, 8);
  add_kernel(builder, 90, 20, 0, 8);
  const GpuUse use = only_row(fixtures::finished(builder));
  EXPECT_EQ(use.busy_ns, 110);
  EXPECT_EQ(use.idle_ns, 0);
  EXPECT_EQ(use.busy_share(), 1);
  EXPECT_EQ(GpuUse().busy_share(), 0) << "of an empty window";
}

TEST(GpuUse, KernelsOfAGraphAreOneLaunch) {
  TraceBuilder builder;
  add(builder, {.category = "cuda_runtime",
                .name = "cudaGraphLaunch",
                .start = 0,
                .duration = 50,
                .correlation = 3});
  for (int kernel = 0; kernel < 4; ++kernel) add_kernel(builder, 100 + 10 * kernel, 10, 3);
  const GpuUse use = only_row(fixtures::finished(builder));
  EXPECT_EQ(use.activities, 4U);
  EXPECT_EQ(use.launches, 1U);
  EXPECT_EQ(use.short_kernels, 0U) << "the call launched all of them";
  EXPECT_EQ(use.busy_ns, 40);
}

TEST(GpuUse, StreamsShareTheWindowOfTheirDevice) {
  TraceBuilder builder;
  add_kernel(builder, 0, 10, 0, 9);
  add_kernel(builder, 20, 30, 0, 7);
  const auto rows = gpu_use(fixtures::finished(builder), {.by_stream = true});
  ASSERT_EQ(rows->size(), 2U);
  EXPECT_EQ((*rows)[0].stream, "9") << "by first start";
  EXPECT_EQ((*rows)[0].window_ns, 50);
  EXPECT_EQ((*rows)[0].idle_other_ns, 40) << "nothing ends this gap";
  EXPECT_EQ((*rows)[1].window_ns, 50);
  EXPECT_EQ((*rows)[1].idle_other_ns, 20);
}

TEST(GpuUse, OfATraceWithoutDeviceActivitiesHasNoRows) {
  TraceBuilder builder;
  add(builder, {.name = "aten::add", .duration = 10});
  const Trace trace = fixtures::finished(builder);
  EXPECT_TRUE(gpu_use(trace)->empty());
  const Result<AnalysisReport> report = gpu_report(trace);
  EXPECT_TRUE(report->table.rows.empty());
}

TEST(GpuUse, OfStepsThatDoNotExistNamesTheExistingOnes) {
  TraceBuilder builder;
  add(builder, {.category = "user_annotation", .name = "ProfilerStep#4", .duration = 10});
  add(builder,
      {.category = "user_annotation", .name = "ProfilerStep#5", .start = 10, .duration = 10});
  const auto rows = gpu_use(fixtures::finished(builder), {.steps = StepRange{6, 7}});
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.status().message(), "cannot select steps 6 to 7: the trace has steps 4 to 5");
}

}  // namespace
}  // namespace tbtrace
