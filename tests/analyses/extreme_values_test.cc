// Every analysis on times and sizes at the ends of their ranges. Sums are checked against sums in
// 128 bits; that nothing overflows on the way is what the undefined behaviour sanitizer checks.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/checks.h>
#include <tbtrace/compat.h>
#include <tbtrace/flame_graph.h>
#include <tbtrace/gpu.h>
#include <tbtrace/kernels.h>
#include <tbtrace/memory.h>
#include <tbtrace/operators.h>
#include <tbtrace/steps.h>

#include "fixtures/extreme_trace.h"
#include "fixtures/random_rounds.h"
#include "fixtures/trace_rows.h"

namespace tbtrace::analyses {
namespace {

using fixtures::add;
using fixtures::ExtremeTrace;
using fixtures::finished;
using fixtures::kFarthestTime;
using fixtures::kLeastInteger;
using fixtures::kMostInteger;
using fixtures::random_rounds;

__extension__ using Wide = __int128;

std::int64_t limited(Wide sum) {
  if (sum < kLeastInteger) return kLeastInteger;
  return sum > kMostInteger ? kMostInteger : static_cast<std::int64_t>(sum);
}

void add_record(TraceBuilder& builder, std::int64_t time, std::int64_t bytes,
                std::int16_t device = 0) {
  MemoryRecord record;
  record.time_ns = time;
  record.bytes = bytes;
  record.device_type = DeviceType{device};
  record.track = fixtures::track(builder, 1, 1);
  builder.add_memory(record);
}

const OperatorRow& row_named(std::span<const OperatorRow> rows, std::string_view key) {
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const OperatorRow& row) { return row.key == key; });
  EXPECT_NE(found, rows.end()) << key;
  return *found;
}

/// An operator and one in it, with these records.
Trace nested(const std::vector<std::pair<std::int64_t, std::int64_t>>& records,
             std::int16_t device = 0) {
  TraceBuilder builder;
  add(builder, {.name = "outer", .start = 0, .duration = 100});
  add(builder, {.name = "inner", .start = 10, .duration = 40});
  for (const auto& [time, bytes] : records) add_record(builder, time, bytes, device);
  return finished(builder);
}

TEST(ExtremeMemory, SumsAreBoundedAtTheirEndOnly) {
  const Trace trace =
      nested({{20, kMostInteger}, {30, kMostInteger}, {60, -kMostInteger}, {70, kLeastInteger}});
  for (const Figures figures : {Figures::torch, Figures::exact}) {
    const OperatorSummary summary = *operator_summary(trace, figures);
    const OperatorRow& outer = row_named(summary.rows(), "outer");
    const OperatorRow& inner = row_named(summary.rows(), "inner");
    EXPECT_EQ(inner.cpu_memory_usage_bytes, kMostInteger) << "2^64 - 2";
    EXPECT_EQ(inner.self_cpu_memory_usage_bytes, kMostInteger);
    EXPECT_EQ(outer.cpu_memory_usage_bytes, -1);
    EXPECT_EQ(outer.self_cpu_memory_usage_bytes, kLeastInteger) << "-1 - (2^64 - 2)";
  }
  const EventList list = events(trace);
  EXPECT_EQ(list[0].cpu_memory_usage_bytes, -1);
  EXPECT_EQ(list[0].self_cpu_memory_usage_bytes, kLeastInteger);
  EXPECT_EQ(list[1].cpu_memory_usage_bytes, kMostInteger);
}

TEST(ExtremeMemory, TheLeastSizeOfAChildIsTakenOff) {
  const Trace trace = nested({{20, kLeastInteger}}, 1);
  const OperatorSummary summary = operator_summary(trace);
  EXPECT_EQ(row_named(summary.rows(), "outer").device_memory_usage_bytes, kLeastInteger);
  EXPECT_EQ(row_named(summary.rows(), "outer").self_device_memory_usage_bytes, 0);
  EXPECT_EQ(events(trace)[0].self_device_memory_usage_bytes, 0);
}

TEST(ExtremeMemory, SumsDoNotDependOnTheOrderOfRecords) {
  std::vector<std::int64_t> sizes = {kMostInteger, kMostInteger, -kMostInteger, -kMostInteger, 5};
  std::sort(sizes.begin(), sizes.end());
  do {
    std::vector<std::pair<std::int64_t, std::int64_t>> records;
    for (std::size_t number = 0; number < sizes.size(); ++number) {
      records.emplace_back(20 + number, sizes[number]);
    }
    const Trace trace = nested(records);
    for (const Figures figures : {Figures::torch, Figures::exact}) {
      const OperatorSummary summary = *operator_summary(trace, figures);
      ASSERT_EQ(row_named(summary.rows(), "inner").self_cpu_memory_usage_bytes, 5);
      ASSERT_EQ(row_named(summary.rows(), "outer").cpu_memory_usage_bytes, 5);
    }
  } while (std::next_permutation(sizes.begin(), sizes.end()));
}

TEST(ExtremeTimes, NanosecondsOfSumsAreBounded) {
  TraceBuilder builder;
  add(builder, {.name = "first", .start = -kFarthestTime, .duration = 1});
  for (int stream = 0; stream < 3; ++stream) {
    add(builder, {.category = "kernel",
                  .name = "long",
                  .start = 0,
                  .duration = kFarthestTime,
                  .thread = 7 + stream,
                  .process = 2});
  }
  const Trace trace = finished(builder);
  for (const Figures figures : {Figures::torch, Figures::exact}) {
    const OperatorSummary summary = *operator_summary(trace, figures);
    EXPECT_EQ(row_named(summary.rows(), "long").device_time_total.ns, kMostInteger);
    EXPECT_EQ(summary.self_device_time_total().ns, kMostInteger);
  }
  EXPECT_EQ(events(trace)[1].end_ns, kMostInteger) << "2^63 - 2 as a double is 2^63";
  const Result<StackTree> stacks = flame_graph(trace, {.weight = "self_device_time_total"});
  EXPECT_EQ(stacks->total(), kMostInteger);
}

/// The sum of what lies in each event, in torch's way: on any thread, ends included.
void expect_memory_of_events(const Trace& trace) {
  std::map<std::string, EventId> event_of;  // names differ
  for (const EventId event : trace.by_start()) event_of[std::string(trace.name(event))] = event;
  for (const FunctionEvent& row : events(trace)) {
    const auto found = event_of.find(row.key);
    if (found == event_of.end() || trace.events().unfinished(found->second)) continue;
    if (row.device_type != DeviceType::cpu) continue;
    Wide cpu = 0;
    Wide device = 0;
    for (const MemoryRecord& record : trace.memory()) {
      if (record.out_of_memory || record.time_ns < trace.events().start_ns(found->second) ||
          record.time_ns > trace.events().end_ns(found->second)) {
        continue;
      }
      (record.device_type == DeviceType::cpu ? cpu : device) += record.bytes;
    }
    ASSERT_EQ(row.cpu_memory_usage_bytes, limited(cpu)) << row.key;
    ASSERT_EQ(row.device_memory_usage_bytes, limited(device)) << row.key;
  }
}

void expect_device_time(const Trace& trace) {
  Wide work = 0;
  for (const EventId event : trace.by_start()) {
    if (is_device_work(trace.kind(event))) work += trace.events().duration_ns(event);
  }
  ASSERT_EQ(flame_graph(trace, {.weight = "self_device_time_total"})->total(), limited(work));
  const OperatorSummary exact = exact_operator_summary(trace);
  ASSERT_EQ(exact.self_device_time_total().ns, limited(work));
}

void expect_steps(const Trace& trace) {
  const StepBreakdown breakdown =
      step_breakdown(trace, {.keep_tail_steps = true, .infer_steps = true});
  for (const StepTime& step : breakdown.steps) {
    Wide parts = 0;
    for (const std::int64_t part : step.role_ns) parts += part;
    ASSERT_EQ(parts, Wide{step.end_ns} - step.start_ns);
    for (const std::int64_t busy : step.busy_ns) {
      ASSERT_GE(busy, 0);
      ASSERT_LE(busy, step.duration_ns());
    }
  }
  const Table table = steps_report(trace, breakdown)->table;
  ASSERT_EQ(table.rows.empty(), breakdown.steps.empty());
}

void expect_kernels(const Trace& trace) {
  for (const KernelGrouping group_by :
       {KernelGrouping::name, KernelGrouping::launch, KernelGrouping::op, KernelGrouping::family}) {
    ASSERT_TRUE(kernels_report(trace, {.group_by = group_by, .by = {GroupKey::stream}}).ok());
  }
  ASSERT_TRUE(kernel_launches_report(trace).ok());
}

/// What is alive at a peak adds up to it, unless a sum did not fit.
void expect_memory_at_peaks(const Trace& trace) {
  const MemoryUse memory = *memory_use(trace);
  for (const DeviceMemory& device : memory.devices) {
    Wide sum = 0;
    bool fits = true;
    for (const MemoryHolder& holder : device.alive) {
      sum += holder.bytes;
      fits = fits && holder.bytes != kMostInteger && holder.bytes != kLeastInteger;
    }
    if (fits) {
      ASSERT_EQ(sum, device.peak_bytes);
    }
    for (const MemoryPoint& point : device.curve) {
      ASSERT_LE(point.allocated_bytes, device.peak_bytes);
    }
  }
}

TEST(ExtremeValues, AllAnalysesTakeThem) {
  for (unsigned seed = 0; seed < random_rounds(2000u); ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = ExtremeTrace(seed).make();
    const Trace other = ExtremeTrace(seed + 1).make();
    const std::array<const Trace*, 2> both = {&trace, &other};
    for (const Figures figures : {Figures::torch, Figures::exact}) {
      const OperatorSummary summary = *operator_summary(both, figures, {}, SameProcess::known);
      ASSERT_TRUE(summary.report().ok());
      ASSERT_TRUE(summary.table().ok());
      ASSERT_TRUE(summary.json().ok());
    }
    ASSERT_TRUE(events(both, SameProcess::known)->table().ok());
    ASSERT_TRUE(events(both, SameProcess::known)->report().ok());
    ASSERT_TRUE(exported_stacks(std::array{&trace, &trace}, "self_cpu_time_total").ok());
    ASSERT_NO_FATAL_FAILURE(expect_memory_of_events(trace));
    ASSERT_NO_FATAL_FAILURE(expect_device_time(trace));
    ASSERT_NO_FATAL_FAILURE(expect_steps(trace));
    ASSERT_NO_FATAL_FAILURE(expect_memory_at_peaks(trace));
    for (const CheckFinding& finding : trace_checks(trace)) ASSERT_GT(finding.count, 0u);
    for (const bool by_stream : {false, true}) {
      ASSERT_TRUE(gpu_report(trace, {.by_stream = by_stream}).ok());
    }
    ASSERT_NO_FATAL_FAILURE(expect_kernels(trace));
    for (const char* weight : {"self_cpu_time_total", "self_device_time_total", "cpu_memory"}) {
      const Result<StackTree> stacks = flame_graph(trace, {.weight = weight});
      folded_stacks(*stacks);
      EXPECT_TRUE(flame_graph_svg(*stacks).ok());
    }
  }
}

}  // namespace
}  // namespace tbtrace::analyses
