#include <cstdint>
#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/compat.h>
#include <tbtrace/kernels.h>

#include "analyses/compat/hta/kernels.h"
#include "fixtures/trace_rows.h"

namespace tbtrace {
namespace {

using fixtures::add;
using fixtures::finished;
using testing::SizeIs;

EventId activity(TraceBuilder& builder, std::string_view category, std::string_view name,
                 std::int64_t start, std::int64_t correlation) {
  const EventId event = add(builder, {.category = category,
                                      .name = name,
                                      .start = start,
                                      .duration = 5,
                                      .thread = 7,
                                      .process = 0,
                                      .correlation = correlation});
  builder.add_argument(event, Argument::stream, std::int64_t{7});
  return event;
}

void call(TraceBuilder& builder, std::string_view name, std::int64_t start,
          std::int64_t correlation) {
  add(builder, {.category = "cuda_runtime",
                .name = name,
                .start = start,
                .duration = 3,
                .correlation = correlation});
}

Trace launches() {
  TraceBuilder builder;
  add(builder,
      {.category = "user_annotation", .name = "ProfilerStep#12", .start = 0, .duration = 15});
  add(builder, {.name = "aten::mm", .start = 0, .duration = 50});
  call(builder, "cudaLaunchKernel", 10, 1);
  call(builder, "cuLaunchKernel", 20, 2);
  call(builder, "cudaMemcpyAsync", 30, 3);
  activity(builder, "kernel", "a", 12, 1);  // began during the call
  activity(builder, "kernel", "b", 40, 2);
  activity(builder, "gpu_memcpy", "Memcpy HtoD", 60, 3);
  activity(builder, "kernel", "c", 70, 4);
  return finished(builder);
}

TEST(KernelLaunches, AreThoseOfAllKernels) {
  const std::vector<KernelLaunch> rows = *kernel_launches(launches());
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].name, "a");
  EXPECT_EQ(rows[0].launch, "cudaLaunchKernel");
  EXPECT_EQ(rows[0].op, "aten::mm");
  EXPECT_EQ(rows[0].launch_delay_ns, 0);
  EXPECT_EQ(rows[0].step, 12) << "the step that was open when the call started";
  EXPECT_EQ(rows[1].name, "b");
  EXPECT_EQ(rows[1].stream, "7");
  EXPECT_EQ(rows[1].start_ns, 40);
  EXPECT_EQ(rows[1].launch_call_ns, 3);
  EXPECT_EQ(rows[1].duration_ns, 5);
  EXPECT_EQ(rows[1].launch_delay_ns, 17);
  EXPECT_EQ(rows[1].step, std::nullopt);
}

TEST(KernelLaunches, OfHtaAreThoseOfFiveCalls) {
  const std::vector<KernelLaunch> rows = *analyses::hta_kernel_launches(launches());
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].name, "a");
  EXPECT_EQ(rows[0].step, std::nullopt);
  EXPECT_EQ(rows[1].name, "Memcpy HtoD");
  EXPECT_EQ(rows[1].correlation, 3);
  EXPECT_EQ(rows[1].launch_delay_ns, 27);
}

TEST(KernelLaunches, OfHtaJoinEveryHostRowWithTheCorrelation) {
  TraceBuilder builder;
  call(builder, "cudaLaunchKernel", 10, 1);
  call(builder, "something else", 20, 1);
  activity(builder, "kernel", "a", 30, 1);
  activity(builder, "kernel", "b", 40, 1);
  EXPECT_THAT(*analyses::hta_kernel_launches(finished(builder)), SizeIs(4));
}

TEST(KernelLaunches, AreNotInThePlugin) {
  EXPECT_EQ(kernel_launch_report(launches(), Figures::plugin, {}).status().code(),
            StatusCode::invalid_argument);
}

}  // namespace
}  // namespace tbtrace
