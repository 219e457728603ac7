#include "trace/call_tree.h"

#include <algorithm>
#include <cstddef>

namespace tbtrace {
namespace {

/// Of ranges that start and end together, the outer one comes first: an annotation opens before the
/// Python function that is called in it, that before its operators, those before their launches.
int outer_first(EventKind kind) {
  switch (kind) {
    case EventKind::user_annotation:
      return 0;
    case EventKind::python_function:
      return 1;
    case EventKind::runtime:
      return 3;
    default:
      return 2;
  }
}

}  // namespace

CallTree::CallTree(const Trace& trace) : busy_ns_(trace.tracks().size(), 0) {
  parent_.resize(trace.events().size(), EventId::none);
  self_ns_.resize(trace.events().size(), 0);
  order_ranges(trace);
  nest(trace);
}

void CallTree::order_ranges(const Trace& trace) {
  const Events& events = trace.events();
  for (const EventId event : trace.by_start()) {
    if (is_host_range(trace.kind(event))) ranges_.push_back(event);
  }
  const auto before = [&](EventId a, EventId b) {
    const std::int64_t longer = events.duration_ns(a) - events.duration_ns(b);
    if (longer != 0) return longer > 0;
    return outer_first(trace.kind(a)) < outer_first(trace.kind(b));
  };
  EventId* const end = ranges_.end();
  for (EventId* first = ranges_.begin(); first != end;) {
    EventId* last = first + 1;
    while (last != end && events.start_ns(*last) == events.start_ns(*first)) ++last;
    if (last - first > 1) std::stable_sort(first, last, before);
    first = last;
  }
}

/// Walks the starts in order. Per thread: the ranges that may still be open, latest start on top,
/// and the instant up to which all time has been given to somebody. A range that ended below one
/// that is still open is found when it comes to the top, and gets nothing. Beside them those that
/// may be parents: of two of which the one started and ended first, only the other can be.
void CallTree::nest(const Trace& trace) {
  const Events& events = trace.events();
  struct Thread {
    std::vector<EventId> open;
    std::vector<EventId> parents;
    std::int64_t given_until = 0;
  };
  std::vector<Thread> threads(trace.tracks().size());
  const auto give_until = [&](Thread& thread, std::int64_t until) {
    while (!thread.open.empty()) {
      const EventId top = thread.open.back();
      const std::int64_t end = std::min(events.end_ns(top), until);
      if (end > thread.given_until) {
        self_ns_[index(top)] += end - thread.given_until;
        busy_ns_[index(events.track(top))] += end - thread.given_until;
        thread.given_until = end;
      }
      if (events.end_ns(top) > until) return;
      thread.open.pop_back();
    }
  };
  for (const EventId event : ranges_) {
    Thread& thread = threads[index(events.track(event))];
    const std::int64_t start = events.start_ns(event);
    give_until(thread, start);
    if (thread.open.empty()) thread.given_until = start;
    const std::int64_t end = events.end_ns(event);
    std::vector<EventId>& parents = thread.parents;
    const bool is_launch = trace.kind(event) == EventKind::runtime;
    if (is_launch && !thread.open.empty()) parent_[index(event)] = thread.open.back();
    while (!parents.empty() &&
           (events.end_ns(parents.back()) < end || events.end_ns(parents.back()) <= start)) {
      parents.pop_back();
    }
    if (!is_launch && !parents.empty()) parent_[index(event)] = parents.back();
    parents.push_back(event);
    thread.open.push_back(event);
  }
  for (Thread& thread : threads) give_until(thread, INT64_MAX);
}

}  // namespace tbtrace
