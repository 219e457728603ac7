// Exact figures of real recordings add up to the nanosecond and to the byte.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/flame_graph.h>
#include <tbtrace/operators.h>

#include "reference/recorded_traces.h"

namespace tbtrace::reference {
namespace {

const OperatorRow& row_named(const OperatorSummary& summary, std::string_view key) {
  for (const OperatorRow& row : summary.rows()) {
    if (row.key == key && row.device_type == DeviceType::cpu) return row;
  }
  throw std::out_of_range(std::string(key));
}

/// From the first to the last nanosecond that anything in the trace stands at.
std::int64_t extent_ns(const Trace& trace) {
  std::int64_t first = INT64_MAX;
  std::int64_t last = INT64_MIN;
  for (const EventId event : trace.by_start()) {
    first = std::min(first, trace.events().start_ns(event));
    last = std::max(last, trace.events().end_ns(event));
  }
  return first > last ? 0 : last - first;
}

/// By thread with ranges of the host: time in which at least one was open, as a union of intervals.
std::map<TrackId, std::int64_t> busy_threads(const Trace& trace) {
  const Events& events = trace.events();
  std::map<TrackId, std::vector<std::pair<std::int64_t, std::int64_t>>> intervals;
  for (const EventId event : trace.by_start()) {
    if (!is_host_range(trace.kind(event))) continue;
    intervals[events.track(event)].emplace_back(events.start_ns(event), events.end_ns(event));
  }
  std::map<TrackId, std::int64_t> busy;
  for (auto& [thread, ranges] : intervals) {
    std::sort(ranges.begin(), ranges.end());
    std::int64_t until = ranges.front().first;
    for (const auto& [start, end] : ranges) {
      busy[thread] += std::max<std::int64_t>(0, end - std::max(start, until));
      until = std::max(until, end);
    }
  }
  return busy;
}

std::int64_t work_ns(const Trace& trace) {
  std::int64_t sum = 0;
  for (const EventId event : trace.by_start()) {
    if (is_device_work(trace.kind(event))) sum += trace.events().duration_ns(event);
  }
  return sum;
}

std::int64_t flame_weight(const Trace& trace, const std::string& weight) {
  const Result<StackTree> stacks = flame_graph(trace, {.weight = weight});
  EXPECT_TRUE(stacks.ok());
  std::int64_t sum = 0;
  for (StackTree::Node node = 0; node < stacks->size(); ++node) sum += stacks->self(node);
  EXPECT_EQ(stacks->total(), sum);
  return sum;
}

TEST(ExactFigures, SelfAndIdleTimeOfEachThreadMakeTheWindow) {
  std::size_t threads = 0;
  for_each_recording([&](const Trace& trace) {
    const OperatorSummary summary = exact_operator_summary(trace);
    const std::int64_t window = extent_ns(trace);
    ASSERT_EQ(summary.window_ns(), window);
    std::vector<std::int64_t> expected;
    for (const auto& [thread, busy] : busy_threads(trace)) expected.push_back(busy);
    std::vector<std::int64_t> found;
    for (const ThreadTotal& thread : summary.threads()) {
      ASSERT_GE(thread.idle_ns, 0);
      ASSERT_EQ(thread.self_cpu_time_total_ns + thread.idle_ns, window) << thread.thread;
      found.push_back(thread.self_cpu_time_total_ns);
    }
    std::sort(expected.begin(), expected.end());
    std::sort(found.begin(), found.end());
    ASSERT_EQ(found, expected) << "time in which a thread ran anything";
    threads += found.size();

    std::int64_t rows = 0;
    for (const OperatorRow& row : summary.rows()) rows += row.self_cpu_time_total.ns;
    ASSERT_EQ(rows, window * static_cast<std::int64_t>(found.size())) << "rows and [idle]";
    ASSERT_EQ(summary.self_cpu_time_total().ns, rows);
  });
  EXPECT_GT(threads, 100u);
}

TEST(ExactFigures, FlameGraphsWeighWhatThreadsRan) {
  for_each_recording([&](const Trace& trace) {
    std::int64_t busy = 0;
    for (const auto& [thread, ns] : busy_threads(trace)) busy += ns;
    ASSERT_EQ(flame_weight(trace, "self_cpu_time_total"), busy);
  });
}

TEST(ExactFigures, LinkedAndUnlinkedWorkMakeAllWork) {
  std::size_t with_linked = 0;
  std::size_t with_unlinked = 0;
  for_each_recording([&](const Trace& trace) {
    const LinkReport& links = trace.links();
    ASSERT_EQ(links.linked_ns + links.unlinked_ns, work_ns(trace));
    ASSERT_EQ(flame_weight(trace, "self_device_time_total"), work_ns(trace));
    with_linked += links.linked_ns > 0;
    with_unlinked += links.unlinked_ns > 0;

    const OperatorSummary summary = exact_operator_summary(trace);
    std::int64_t ranges = 0;
    std::int64_t work = 0;
    for (const OperatorRow& row : summary.rows()) {
      (row.device_type == DeviceType::cpu ? ranges : work) += row.self_device_time_total.ns;
    }
    ASSERT_EQ(ranges, work_ns(trace)) << "ranges of the host and [unattributed]";
    ASSERT_EQ(work, work_ns(trace)) << "the device's own side";
    ASSERT_EQ(row_named(summary, "[unattributed]").self_device_time_total.ns, links.unlinked_ns);
  });
  EXPECT_GT(with_linked, 20u);
  EXPECT_GT(with_unlinked, 3u);
}

TEST(ExactFigures, MemoryOfRowsMakesAllMemory) {
  std::size_t records = 0;
  for_each_recording([&](const Trace& trace) {
    std::int64_t host = 0;
    std::int64_t device = 0;
    for (const MemoryRecord& record : trace.memory()) {
      if (record.out_of_memory) continue;
      if (record.device_type == DeviceType::cpu) host += record.bytes;
      if (record.device_type == DeviceType::cuda) device += record.bytes;
      ASSERT_TRUE(record.device_type == DeviceType::cpu || record.device_type == DeviceType::cuda);
      ++records;
    }
    const OperatorSummary summary = exact_operator_summary(trace);
    for (const OperatorRow& row : summary.rows()) {
      host -= row.self_cpu_memory_usage_bytes;
      device -= row.self_device_memory_usage_bytes;
    }
    ASSERT_EQ(host, 0);
    ASSERT_EQ(device, 0);
  });
  EXPECT_GT(records, 1000u);
}

}  // namespace
}  // namespace tbtrace::reference
