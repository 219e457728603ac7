// Which host range was the innermost one, at each time of each thread.
// Any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <tbtrace/trace.h>

#include "base/time_ranges.h"
#include "trace/call_tree.h"

namespace tbtrace {

/// Calls `visit(range, time)` for each time in which a range was the one that started last among
/// those open on its thread; by time for each thread. Ranges may overlap without nesting.
/// Walks the ranges by start. State per thread: the ranges that may still be open, latest start on
/// top, and the time up to which everything has been visited. A range that has ended below an open
/// one is removed when it comes to the top, and gets no more time.
template <typename Visit>
void visit_innermost_ranges(const Trace& trace, const CallTree& tree, const Visit& visit) {
  const Events& events = trace.events();
  struct Thread {
    std::vector<EventId> open;
    std::int64_t visited_until = 0;
  };
  std::vector<Thread> threads(trace.tracks().size());
  const auto visit_until = [&](Thread& thread, std::int64_t time) {
    while (!thread.open.empty()) {
      const EventId top = thread.open.back();
      const std::int64_t end = std::min(events.end_ns(top), time);
      if (end > thread.visited_until) {
        visit(top, TimeRange{thread.visited_until, end});
        thread.visited_until = end;
      }
      if (events.end_ns(top) > time) return;
      thread.open.pop_back();
    }
  };
  for (const EventId event : tree.ranges()) {
    Thread& thread = threads[index(events.track(event))];
    const std::int64_t start = events.start_ns(event);
    visit_until(thread, start);
    if (thread.open.empty()) thread.visited_until = start;
    thread.open.push_back(event);
  }
  for (Thread& thread : threads) visit_until(thread, INT64_MAX);
}

}  // namespace tbtrace
