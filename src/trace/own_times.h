// The walk over the threads of a trace that gives each instant to the range that started last among
// those open on its thread. Ranges may overlap without nesting.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <tbtrace/trace.h>

#include "trace/call_tree.h"

namespace tbtrace {

/// Calls `give(range, start_ns, end_ns)` for each stretch of time, within a thread in the order of
/// time. Ranges for which `keeps(range)` is false do not exist for the walk.
template <typename Keeps, typename Give>
void for_each_own_time(const Trace& trace, const CallTree& tree, Keeps keeps, Give give) {
  const Events& events = trace.events();
  // The ranges that may still be open, latest start on top, and the time up to which everything has
  // been given. A range that has ended below an open one is removed when it comes to the top.
  struct Thread {
    std::vector<EventId> open;
    std::int64_t given_until = 0;
  };
  std::vector<Thread> threads(trace.tracks().size());
  const auto give_until = [&](Thread& thread, std::int64_t time) {
    while (!thread.open.empty()) {
      const EventId top = thread.open.back();
      const std::int64_t end = std::min(events.end_ns(top), time);
      if (end > thread.given_until) {
        give(top, thread.given_until, end);
        thread.given_until = end;
      }
      if (events.end_ns(top) > time) return;
      thread.open.pop_back();
    }
  };
  for (const EventId event : tree.ranges()) {
    if (!keeps(event)) continue;
    Thread& thread = threads[index(events.track(event))];
    const std::int64_t start = events.start_ns(event);
    give_until(thread, start);
    if (thread.open.empty()) thread.given_until = start;
    thread.open.push_back(event);
  }
  for (Thread& thread : threads) give_until(thread, INT64_MAX);
}

}  // namespace tbtrace
