// The exact tree on real recordings against its definition, swept instant by instant.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/recorded_traces.h"
#include "trace/call_tree.h"
#include "trace/self_times.h"

namespace tbtrace::reference {
namespace {

/// Which of two ranges that start and end together is the outer one.
int level(EventKind kind) {
  if (kind == EventKind::user_annotation) return 0;
  if (kind == EventKind::python_function) return 1;
  return kind == EventKind::runtime ? 3 : 2;
}

/// All ranges of a thread in the order in which they opened, then all its instants in order; at
/// each the ranges that end leave, those that start come, and the one that came last owns what
/// follows.
class Sweep {
 public:
  explicit Sweep(const Trace& trace)
      : parent_(trace.events().size(), EventId::none), self_ns_(trace.events().size(), 0) {
    const Events& events = trace.events();
    std::map<TrackId, std::vector<EventId>> threads;
    for (const EventId event : trace.by_start()) {
      if (is_host_range(trace.kind(event))) threads[events.track(event)].push_back(event);
    }
    for (auto& [thread, ranges] : threads) {
      const auto opened = [&](EventId event) {
        return std::tuple(events.start_ns(event), -events.end_ns(event), level(trace.kind(event)));
      };
      std::stable_sort(ranges.begin(), ranges.end(),
                       [&](EventId a, EventId b) { return opened(a) < opened(b); });
      sweep(trace, ranges);
    }
  }

  EventId parent(EventId event) const { return parent_[index(event)]; }
  std::int64_t self_ns(EventId event) const { return self_ns_[index(event)]; }

 private:
  void sweep(const Trace& trace, const std::vector<EventId>& ranges) {
    const Events& events = trace.events();
    struct Changes {
      std::vector<std::size_t> ends;
      std::vector<std::size_t> starts;
    };
    std::map<std::int64_t, Changes> instants;
    for (std::size_t row = 0; row < ranges.size(); ++row) {
      instants[events.start_ns(ranges[row])].starts.push_back(row);
      instants[events.end_ns(ranges[row])].ends.push_back(row);
    }
    std::set<std::size_t> open;
    std::int64_t before = 0;
    for (const auto& [instant, changes] : instants) {
      if (!open.empty()) self_ns_[index(ranges[*open.rbegin()])] += instant - before;
      for (const std::size_t row : changes.ends) open.erase(row);
      for (const std::size_t row : changes.starts) {
        // The last that came and stays to the range's end; for a launch, the last that came.
        const bool launch = trace.kind(ranges[row]) == EventKind::runtime;
        const auto holder = std::find_if(open.rbegin(), open.rend(), [&](std::size_t other) {
          return launch || events.end_ns(ranges[other]) >= events.end_ns(ranges[row]);
        });
        if (holder != open.rend()) parent_[index(ranges[row])] = ranges[*holder];
        if (events.duration_ns(ranges[row]) > 0) open.insert(row);
      }
      before = instant;
    }
  }

  std::vector<EventId> parent_;
  std::vector<std::int64_t> self_ns_;
};

TEST(CallTree, MatchesItsDefinitionOnEveryRecording) {
  std::size_t nested = 0;
  for_each_recording([&](const Trace& trace) {
    const Sweep sweep(trace);
    const CallTree& tree = call_tree_of(trace);
    for (const EventId event : trace.by_start()) {
      ASSERT_EQ(self_times_of(trace).ns(event), sweep.self_ns(event)) << index(event);
      ASSERT_EQ(tree.parent(event), sweep.parent(event)) << index(event);
      nested += tree.parent(event) != EventId::none;
    }
  });
  EXPECT_GT(nested, 100'000u);
}

}  // namespace
}  // namespace tbtrace::reference
