// Recordings whose ids name no operators: each kernel goes to the operator that holds its launch.
// The expected operator is found by looking at all of them.
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/recorded_traces.h"
#include "trace/links.h"

namespace tbtrace::reference {
namespace {

/// The operator, else the annotation, that was running on the launching thread when the launch
/// started; of several the one that started last, of those the shortest.
EventId holder_of(const Trace& trace, const std::vector<EventId>& ranges, EventId launch,
                  EventKind wanted) {
  const Events& events = trace.events();
  EventId best = EventId::none;
  for (const EventId event : ranges) {
    if (trace.kind(event) != wanted || events.track(event) != events.track(launch)) continue;
    if (events.start_ns(event) > events.start_ns(launch)) continue;
    if (events.end_ns(event) <= events.start_ns(launch)) continue;
    const bool later =
        best == EventId::none || std::pair(events.start_ns(event), -events.end_ns(event)) >=
                                     std::pair(events.start_ns(best), -events.end_ns(best));
    if (later) best = event;
  }
  return best;
}

void expect_kernels_on_their_operators(const std::string& folder) {
  for (const std::string& file : trace_files({folder})) {
    SCOPED_TRACE(file);
    const Result<Trace> trace = read_trace(file);
    ASSERT_TRUE(trace.ok()) << trace.status().message();
    ASSERT_FALSE(trace->links().external_ids_valid);
    std::map<std::int64_t, EventId> launches;  // by correlation
    std::vector<EventId> ranges;
    for (const EventId event : trace->by_start()) {
      const EventKind kind = trace->kind(event);
      if (kind == EventKind::runtime) launches.emplace(trace->correlation(event), event);
      if (kind == EventKind::cpu_op || kind == EventKind::user_annotation) ranges.push_back(event);
    }
    std::size_t with_launch = 0;
    std::size_t work = 0;
    for (const DeviceLink& link : links_of(*trace).device_work()) {
      ++work;
      const auto launch = launches.find(trace->correlation(link.activity));
      if (launch == launches.end()) continue;
      ++with_launch;
      ASSERT_EQ(link.launch, launch->second) << "of " << index(link.activity);
      EventId op = holder_of(*trace, ranges, launch->second, EventKind::cpu_op);
      if (op == EventId::none) {
        op = holder_of(*trace, ranges, launch->second, EventKind::user_annotation);
      }
      ASSERT_EQ(link.op, op) << "of " << index(link.activity) << ", " << trace->name(link.activity);
    }
    EXPECT_GT(with_launch, 100u);
    EXPECT_EQ(with_launch, trace->links().launch_by_correlation);
    EXPECT_EQ(work - with_launch, trace->links().launch_by_flow + trace->links().launch_unknown);
  }
}

TEST(LaunchesWithBrokenIds, AreInTheirOperatorsInALargeRun) {
  expect_kernels_on_their_operators("traces/hta/df_index_resolver");
}

TEST(LaunchesWithBrokenIds, AreInTheirOperatorsInTwoVersionsOfAModel) {
  expect_kernels_on_their_operators("traces/hta/trace_diff");
}

}  // namespace
}  // namespace tbtrace::reference
