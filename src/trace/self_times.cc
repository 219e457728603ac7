#include "trace/self_times.h"

#include <algorithm>

namespace tbtrace {

/// Walks the starts in order. Per thread: the ranges that may still be open, latest start on top,
/// and the instant up to which all time has been given to somebody. A range that ended below one
/// that is still open is found when it comes to the top, and gets nothing.
SelfTimes::SelfTimes(const Trace& trace, const CallTree& tree)
    : busy_ns_(trace.tracks().size(), 0) {
  ns_.resize(trace.events().size(), 0);
  const Events& events = trace.events();
  struct Thread {
    std::vector<EventId> open;
    std::int64_t given_until = 0;
  };
  std::vector<Thread> threads(trace.tracks().size());
  const auto give_until = [&](Thread& thread, std::int64_t until) {
    while (!thread.open.empty()) {
      const EventId top = thread.open.back();
      const std::int64_t end = std::min(events.end_ns(top), until);
      if (end > thread.given_until) {
        ns_[index(top)] += end - thread.given_until;
        busy_ns_[index(events.track(top))] += end - thread.given_until;
        thread.given_until = end;
      }
      if (events.end_ns(top) > until) return;
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
