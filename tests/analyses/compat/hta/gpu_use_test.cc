#include "analyses/compat/hta/gpu_use.h"

#include <cstdint>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/compat.h>
#include <tbtrace/gpu.h>

#include "fixtures/trace_rows.h"

namespace tbtrace::analyses {
namespace {

using analyses::HtaGpuUse;

using fixtures::add;
using fixtures::finished;

struct Activity {
  std::string_view name = "gemm";
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::int64_t correlation = 0;
  std::int64_t stream = 7;
  std::int64_t device = 0;
  std::string_view category = "kernel";
};

void add_activity(TraceBuilder& builder, const Activity& activity) {
  const EventId event = add(builder, {.category = activity.category,
                                      .name = activity.name,
                                      .start = activity.start,
                                      .duration = activity.duration,
                                      .thread = activity.stream,
                                      .process = activity.device,
                                      .correlation = activity.correlation});
  builder.add_argument(event, Argument::stream, activity.stream);
}

void add_launch(TraceBuilder& builder, std::int64_t start, std::int64_t correlation) {
  add(builder, {.category = "cuda_runtime",
                .name = "cudaLaunchKernel",
                .start = start,
                .duration = 5,
                .correlation = correlation});
}

HtaGpuUse whole(const Trace& trace) {
  const Result<std::vector<HtaGpuUse>> rows = analyses::hta_gpu_use(trace);
  EXPECT_EQ(rows->size(), 1U);
  return rows->front();
}

std::vector<HtaGpuUse> streams(const Trace& trace, std::int64_t limit_ns = 30'000) {
  return *analyses::hta_gpu_use(trace, {.by_stream = true, .kernel_wait_limit_ns = limit_ns});
}

TEST(HtaGpuUse, AllDevicesAreOneRow) {
  TraceBuilder builder;
  add_activity(builder, {.start = 10, .duration = 20});
  add_activity(builder, {.start = 100, .duration = 50, .device = 1});
  const HtaGpuUse use = whole(finished(builder));
  EXPECT_EQ(use.window_ns, 140);
  EXPECT_EQ(use.busy_ns, 70);
  EXPECT_EQ(use.idle_ns, 70);
  EXPECT_EQ(use.activities, 2U);
  EXPECT_TRUE(use.stream.empty());
}

TEST(HtaGpuUse, TimeOfClassesIsWithoutTheirOverlaps) {
  TraceBuilder builder;
  add_activity(builder, {.name = "gemm", .start = 0, .duration = 100});
  add_activity(builder, {.name = "relu", .start = 50, .duration = 100, .stream = 8});
  add_activity(builder, {.name = "ncclDevKernel_Sum", .start = 100, .duration = 100, .stream = 9});
  add_activity(builder, {.name = "Memcpy HtoD", .start = 190, .duration = 30, .stream = 10});
  const HtaGpuUse use = whole(finished(builder));
  EXPECT_EQ(use.computation_ns, 150);
  EXPECT_EQ(use.communication_ns, 100);
  EXPECT_EQ(use.memory_ns, 30);
  EXPECT_EQ(use.overlap_ns, 50);
  EXPECT_EQ(use.exposed_communication_ns, 50);
  EXPECT_EQ(use.exposed_memory_ns, 20);
  EXPECT_EQ(use.busy_ns, 220);
  EXPECT_EQ(use.idle_ns, 0);
}

TEST(HtaGpuUse, RowsOfNoClassAreBusyTime) {
  TraceBuilder builder;
  add_activity(builder, {.name = "gemm", .start = 0, .duration = 10});
  add_activity(builder,
               {.name = "Stream Sync", .start = 20, .duration = 30, .category = "cuda_sync"});
  const HtaGpuUse use = whole(finished(builder));
  EXPECT_EQ(use.busy_ns, 40);
  EXPECT_EQ(use.computation_ns, 10);
  EXPECT_EQ(use.exposed_memory_ns + use.exposed_communication_ns, 0);
}

TEST(HtaGpuUse, WithoutStreamsThereAreNoRows) {
  TraceBuilder builder;
  add(builder, {.category = "kernel", .name = "k", .start = 0, .duration = 5, .correlation = 1});
  const Trace trace = finished(builder);
  EXPECT_TRUE(analyses::hta_gpu_use(trace)->empty());
  EXPECT_TRUE(streams(trace).empty());
}

TEST(HtaGpuUse, StepsCannotBeChosen) {
  TraceBuilder builder;
  add_activity(builder, {.start = 0, .duration = 5});
  const auto rows = gpu_report(finished(builder), Figures::hta, {.steps = StepRange{1, 1}});
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.status().code(), StatusCode::invalid_argument);
}

TEST(HtaIdleTime, AGapIsHostWaitIfTheLaunchStartsAfterThePreviousRow) {
  for (const std::int64_t after : {0, 1}) {
    TraceBuilder builder;
    add_activity(builder, {.start = 0, .duration = 50, .correlation = 1});
    add_launch(builder, 50 + after, 2);
    add_activity(builder, {.start = 90, .duration = 10, .correlation = 2});
    const HtaGpuUse use = streams(finished(builder)).front();
    EXPECT_EQ(use.idle_host_wait_ns, after == 0 ? 0 : 40) << "at the end itself it is not late";
    EXPECT_EQ(use.idle_kernel_wait_ns, after == 0 ? 40 : 0);
  }
}

TEST(HtaIdleTime, OfOtherGapsThoseBelowTheLimitAreKernelWait) {
  TraceBuilder builder;
  add_activity(builder, {.start = 0, .duration = 10});
  add_activity(builder, {.start = 39, .duration = 10});
  add_activity(builder, {.start = 79, .duration = 10});
  const HtaGpuUse use = streams(finished(builder), 30).front();
  EXPECT_EQ(use.idle_kernel_wait_ns, 29);
  EXPECT_EQ(use.idle_other_ns, 30);
  EXPECT_EQ(use.idle_ns, 59);
  EXPECT_EQ(use.activities, 3U);
}

TEST(HtaIdleTime, AGapIsNegativeWhereRowsOverlap) {
  TraceBuilder builder;
  add_activity(builder, {.start = 0, .duration = 100});
  add_activity(builder, {.start = 10, .duration = 20});
  add_activity(builder, {.start = 150, .duration = 10});
  const HtaGpuUse use = streams(finished(builder), 1000).front();
  EXPECT_EQ(use.idle_kernel_wait_ns, -90 + 120) << "after the row at 10, which ended at 30";
  EXPECT_EQ(use.idle_ns, 30);
}

TEST(HtaIdleTime, ALaunchThatWasLeftOutIsUnknown) {
  TraceBuilder builder;
  add(builder, {.name = "ProfilerStep#1", .start = 0, .duration = 10});
  add(builder, {.name = "ProfilerStep#2", .start = 10, .duration = 90});
  add_launch(builder, 20, 1);
  add_launch(builder, 30, 2);
  add_launch(builder, 120, 2);  // after the last step; the last row in the file is the link
  add_activity(builder, {.start = 40, .duration = 10, .correlation = 1});
  add_activity(builder, {.start = 130, .duration = 10, .correlation = 2});
  const HtaGpuUse use = streams(finished(builder)).front();
  EXPECT_EQ(use.idle_host_wait_ns, 0);
  EXPECT_EQ(use.idle_kernel_wait_ns, 80);
}

TEST(HtaIdleTime, OnlySevenCategoriesHaveGaps) {
  TraceBuilder builder;
  add_activity(builder, {.start = 0, .duration = 10});
  add_activity(builder, {.start = 20, .duration = 10, .category = "cuda_sync"});
  add_activity(builder, {.start = 40, .duration = 10, .category = "gpu_memcpy"});
  add_activity(builder, {.start = 60, .duration = 10, .stream = 8, .category = "cuda_sync"});
  const std::vector<HtaGpuUse> rows = streams(finished(builder));
  ASSERT_EQ(rows.size(), 1U) << "stream 8 has none of them";
  EXPECT_EQ(rows[0].idle_ns, 30);
}

TEST(HtaIdleTime, StreamsOfTheSameNumberAreOneRow) {
  TraceBuilder builder;
  add_activity(builder, {.start = 0, .duration = 10, .stream = 20});
  add_activity(builder, {.start = 30, .duration = 10, .stream = 20, .device = 1});
  add_activity(builder, {.start = 70, .duration = 10, .stream = 7});
  const std::vector<HtaGpuUse> rows = streams(finished(builder));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].stream, "7") << "by number";
  EXPECT_EQ(rows[1].stream, "20");
  EXPECT_EQ(rows[1].idle_ns, 20);
}

TEST(HtaGpuReport, AStreamWithoutGapsHasAQueueOnly) {
  TraceBuilder builder;
  add_launch(builder, 0, 1);
  add_activity(builder, {.start = 10, .duration = 10, .correlation = 1, .category = "mtia_queue"});
  const Result<AnalysisReport> report =
      gpu_report(finished(builder), Figures::hta, {.by_stream = true});
  ASSERT_EQ(report->table.rows.size(), 1U);
  for (std::size_t column = 0; column < report->table.columns.size(); ++column) {
    const Cell& cell = report->table.rows[0][column];
    const bool is_empty = std::holds_alternative<std::monostate>(cell);
    const std::string& name = report->table.columns[column];
    if (name == "idle_ns" || name == "window_ns" || name == "launches") {
      EXPECT_TRUE(is_empty) << name;
    }
    if (name == "stream" || name == "queue_changes" || name == "queue_change_max") {
      EXPECT_FALSE(is_empty) << name;
    }
  }
}

}  // namespace
}  // namespace tbtrace::analyses
