#include "analyses/compat/plugin/gpu_use.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/gpu.h>

#include "fixtures/trace_rows.h"

namespace tbtrace {
namespace {

using fixtures::add;
using fixtures::finished;

struct Kernel {
  std::string_view name = "gemm";
  std::int64_t start_us = 0;
  std::int64_t duration_us = 0;
  std::optional<double> blocks = {};
  std::optional<double> occupancy = {};
  std::int64_t device = 0;
  std::int64_t correlation = 0;
};

EventId add_kernel(TraceBuilder& builder, const Kernel& kernel) {
  const EventId event = add(builder, {.category = "kernel",
                                      .name = kernel.name,
                                      .start = kernel.start_us * 1000,
                                      .duration = kernel.duration_us * 1000,
                                      .thread = 7,
                                      .process = kernel.device,
                                      .external_id = kernel.correlation,
                                      .correlation = kernel.correlation});
  if (kernel.blocks) builder.add_argument(event, Argument::blocks_per_sm, *kernel.blocks);
  if (kernel.occupancy) builder.add_argument(event, Argument::occupancy, *kernel.occupancy);
  return event;
}

/// A step from 100 to 200 us.
void add_step(TraceBuilder& builder) {
  add(builder, {.category = "user_annotation",
                .name = "ProfilerStep#1",
                .start = 100'000,
                .duration = 100'000});
}

void add_operator(TraceBuilder& builder, std::int64_t start_us, std::int64_t correlation) {
  add(builder,
      {.name = "aten::mm", .start = start_us * 1000, .duration = 2000, .external_id = correlation});
  add(builder, {.category = "cuda_runtime",
                .name = "cudaLaunchKernel",
                .start = start_us * 1000 + 500,
                .duration = 1000,
                .external_id = correlation,
                .correlation = correlation});
}

std::vector<analyses::PluginGpuUse> rows(TraceBuilder& builder) {
  return analyses::plugin_gpu_use(finished(builder));
}

TEST(PluginGpuUse, OnlyTheTimeOfStepsCounts) {
  TraceBuilder builder;
  add_step(builder);
  add_kernel(builder, {.start_us = 50, .duration_us = 60});
  add_kernel(builder, {.start_us = 105, .duration_us = 15});
  add_kernel(builder, {.start_us = 150, .duration_us = 10, .device = 1});
  const std::vector<analyses::PluginGpuUse> found = rows(builder);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].window_ns, 100'000);
  EXPECT_EQ(found[0].busy_ns, 20'000);
  EXPECT_EQ(found[0].idle_ns, 80'000);
  EXPECT_EQ(found[1].device, 1);
  EXPECT_EQ(found[1].busy_ns, 10'000);
}

TEST(PluginGpuUse, SmEfficiencyIsAtMostOneAtAnyTime) {
  TraceBuilder builder;
  add_step(builder);
  add_kernel(builder, {.start_us = 90, .duration_us = 20, .blocks = 0.5});   // 10 us in the step
  add_kernel(builder, {.start_us = 105, .duration_us = 15, .blocks = 0.8});  // 5 us with both
  add_kernel(builder, {.start_us = 150, .duration_us = 10, .blocks = 0.0});
  const std::vector<analyses::PluginGpuUse> found = rows(builder);
  ASSERT_TRUE(found[0].sm_efficiency.has_value());
  EXPECT_NEAR(*found[0].sm_efficiency, (5 * 0.5 + 5 * 1 + 10 * 0.8) / 100, 1e-12);
}

TEST(PluginGpuUse, WithoutBlocksInTheStepsThereIsNoSmEfficiency) {
  TraceBuilder builder;
  add_step(builder);
  add_kernel(builder, {.start_us = 0, .duration_us = 20, .blocks = 0.5, .occupancy = 10});
  add_kernel(builder, {.start_us = 110, .duration_us = 20});
  const std::vector<analyses::PluginGpuUse> found = rows(builder);
  EXPECT_FALSE(found[0].sm_efficiency.has_value());
  EXPECT_FALSE(found[0].occupancy_percent.has_value());
}

TEST(PluginGpuUse, OccupancyIsWeightedByTheTimeInTheSteps) {
  TraceBuilder builder;
  add_step(builder);
  add_kernel(builder, {.start_us = 90, .duration_us = 20, .occupancy = 40});
  add_kernel(builder, {.start_us = 120, .duration_us = 30, .occupancy = 0});
  add_kernel(builder, {.start_us = 160, .duration_us = 10});
  add_kernel(builder, {.start_us = 170, .duration_us = 10, .occupancy = -5});
  EXPECT_DOUBLE_EQ(*rows(builder)[0].occupancy_percent, 10);
}

TEST(PluginGpuUse, TensorCoreShareIsOfKernelsThatOperatorsLaunched) {
  TraceBuilder builder;
  add_step(builder);
  add_operator(builder, 110, 1);
  add_operator(builder, 120, 2);
  add_kernel(builder,
             {.name = "volta_s884gemm", .start_us = 130, .duration_us = 10, .correlation = 1});
  add_kernel(builder, {.name = "relu", .start_us = 140, .duration_us = 30, .correlation = 2});
  add_kernel(builder, {.name = "h884_nobody_launched", .start_us = 180, .duration_us = 10});
  add_kernel(builder, {.start_us = 150, .duration_us = 10, .device = 1});
  const std::vector<analyses::PluginGpuUse> found = rows(builder);
  EXPECT_DOUBLE_EQ(*found[0].tensor_core_share, 0.25);
  EXPECT_EQ(found[1].tensor_core_share, 0.0) << "no operator launched anything there";
}

TEST(PluginGpuUse, WithoutKernelsOfOperatorsThereIsNoTensorCoreShare) {
  TraceBuilder builder;
  add_step(builder);
  add_kernel(builder, {.start_us = 130, .duration_us = 10});
  EXPECT_FALSE(rows(builder)[0].tensor_core_share.has_value());
}

TEST(PluginGpuUse, StreamsAndStepsCannotBeChosen) {
  TraceBuilder builder;
  add_step(builder);
  const Trace trace = finished(builder);
  EXPECT_FALSE(analyses::plugin_gpu_report(trace, {.by_stream = true}).ok());
  EXPECT_FALSE(analyses::plugin_gpu_report(trace, {.steps = StepRange{1, 1}}).ok());
}

}  // namespace
}  // namespace tbtrace
