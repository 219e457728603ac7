#include "analyses/compat/plugin/kernels.h"

#include <cstdint>
#include <optional>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/kernels.h>

#include "analyses/compat/plugin/tensor_cores.h"
#include "fixtures/trace_rows.h"

namespace tbtrace::analyses {
namespace {

using fixtures::add;
using fixtures::finished;
using testing::DoubleEq;
using testing::Optional;
using testing::SizeIs;

EventId kernel(TraceBuilder& builder, std::string_view name, std::int64_t start,
               std::int64_t duration, std::int64_t correlation = 0) {
  return add(builder, {.category = "kernel",
                       .name = name,
                       .start = start,
                       .duration = duration,
                       .thread = 7,
                       .process = 0,
                       .correlation = correlation});
}

TEST(PluginKernels, WeighsOccupancyOfAllByDuration) {
  TraceBuilder builder;
  builder.add_argument(kernel(builder, "k", 0, 30), Argument::occupancy, 100.0);
  builder.add_argument(kernel(builder, "k", 40, 10), Argument::occupancy, 20.0);
  kernel(builder, "k", 60, 40);  // has none, and counts as 0
  const KernelSummary summary = *plugin_kernel_summary(finished(builder));
  EXPECT_THAT(summary.groups[0].occupancy_percent, Optional(DoubleEq(40)));
  EXPECT_EQ(summary.groups[0].blocks_per_sm, std::nullopt);  // no kernel has one
}

TEST(PluginKernels, HaveTheRootAsOperatorWithoutALaunch) {
  TraceBuilder builder;
  add(builder, {.name = "ProfilerStep#1", .start = 0, .duration = 100, .external_id = 1});
  add(builder, {.name = "aten::mm", .start = 10, .duration = 20, .external_id = 2});
  add(builder, {.category = "cuda_runtime",
                .name = "cudaLaunchKernel",
                .start = 12,
                .duration = 2,
                .external_id = 2,
                .correlation = 5});
  kernel(builder, "a", 50, 2, 5);
  kernel(builder, "b", 60, 3, 99);
  const KernelSummary summary =
      *plugin_kernel_summary(finished(builder), {.group_by = KernelGrouping::launch});
  ASSERT_THAT(summary.groups, SizeIs(2));
  EXPECT_EQ(summary.groups[0].name, "b");
  EXPECT_EQ(summary.groups[0].op, "CallTreeRoot");
  EXPECT_EQ(summary.groups[1].op, "aten::mm");
}

TEST(PluginKernels, OfLaunchesWithTheIdZeroBelongToTheRootOfTheirThread) {
  TraceBuilder builder;
  add(builder, {.name = "aten::mm", .start = 10, .duration = 20, .external_id = 2});
  for (const std::int64_t thread : {1, 2}) {  // the second has no tree
    EventRow row;
    row.start_ns = 12;
    row.duration_ns = 2;
    row.correlation = 4 + thread;
    row.flags |= Events::kZeroExternalId;
    row.name = builder.intern("cudaLaunchKernel");
    row.track = fixtures::track(builder, 1, thread);
    row.category = builder.category(builder.intern("cuda_runtime"));
    builder.add_event(row);
  }
  kernel(builder, "reached", 50, 2, 5);
  kernel(builder, "lost", 60, 3, 6);
  const KernelSummary summary =
      *plugin_kernel_summary(finished(builder), {.group_by = KernelGrouping::launch});
  ASSERT_THAT(summary.groups, SizeIs(1));
  EXPECT_EQ(summary.groups[0].name, "reached");
  EXPECT_EQ(summary.groups[0].op, "CallTreeRoot");
}

TEST(PluginTensorCores, EndWithAmpere) {
  EXPECT_TRUE(uses_tensor_cores_in_plugin("ampere_fp16_s16816gemm_fp16_64x64_nn"));
  EXPECT_TRUE(uses_tensor_cores_in_plugin("xmma_gemm_ffma"));
  EXPECT_FALSE(uses_tensor_cores_in_plugin("nvjet_tst_128x152_64x6_2x1_v_bz_TNT"));
  EXPECT_FALSE(uses_tensor_cores_in_plugin("HMMA"));  // it compares letters as they are
}

}  // namespace
}  // namespace tbtrace::analyses
