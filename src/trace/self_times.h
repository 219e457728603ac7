// Self time of each host range.
// Owns its columns; made from a Trace and valid for it alone. Immutable.
// Ranges may overlap without nesting; every instant is still counted once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <tbtrace/trace.h>

#include "base/column.h"
#include "trace/call_tree.h"

namespace tbtrace {

/// The walk behind self times: calls `give(range, start_ns, end_ns)` for each stretch of time,
/// within a thread in the order of time. Ranges for which `keeps(range)` is false do not exist for
/// the walk.
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

/// On each thread every instant belongs to the open range that started last. Therefore the self
/// times and the idle time of a thread add up to the window, to the nanosecond.
class SelfTimes {
 public:
  /// Counts only the time from `from` up to, not including, `until`.
  SelfTimes(const Trace& trace, const CallTree& tree, std::int64_t from = INT64_MIN,
            std::int64_t until = INT64_MAX);

  /// 0 for events that are not host ranges.
  std::int64_t ns(EventId event) const { return ns_[index(event)]; }

  /// Time during which at least one range was open on the thread, by TrackId.
  std::span<const std::int64_t> busy_ns() const { return busy_ns_; }

 private:
  Column<std::int64_t> ns_;
  std::vector<std::int64_t> busy_ns_;
};

/// The self times of a trace, computed by the first call on any thread. The trace owns them.
const SelfTimes& self_times_of(const Trace& trace);

}  // namespace tbtrace
