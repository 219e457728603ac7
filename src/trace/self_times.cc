#include "trace/self_times.h"

#include <algorithm>

namespace tbtrace {

/// Walks the ranges by start. State per thread: the ranges that may still be open, latest start on
/// top, and the time up to which everything has been assigned. A range that has ended below an open
/// one is removed when it comes to the top, and gets no more time.
SelfTimes::SelfTimes(const Trace& trace, const CallTree& tree, std::int64_t from,
                     std::int64_t until)
    : busy_ns_(trace.tracks().size(), 0) {
  ns_.resize(trace.events().size(), 0);
  const Events& events = trace.events();
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
        const std::int64_t first = std::max(thread.given_until, from);
        const std::int64_t counted = std::max(first, std::min(end, until)) - first;
        ns_[index(top)] += counted;
        busy_ns_[index(events.track(top))] += counted;
        thread.given_until = end;
      }
      if (events.end_ns(top) > time) return;
      thread.open.pop_back();
    }
  };
  for (const EventId event : tree.ranges()) {
    Thread& thread = threads[index(events.track(event))];
    const std::int64_t start = events.start_ns(event);
    give_until(thread, start);
    if (thread.open.empty()) thread.given_until = start;
    thread.open.push_back(event);
  }
  for (Thread& thread : threads) give_until(thread, INT64_MAX);
}

}  // namespace tbtrace
