#include "trace/call_tree.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tbtrace {
namespace {

/// Order of ranges that start and end together, outer ones first: an annotation opens before the
/// Python function called in it, which opens before its operators, and those before their launches.
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

CallTree::CallTree(const Trace& trace) {
  parent_.resize(trace.events().size(), EventId::none);
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

/// Walks the ranges by start. Of two ranges where one started and ended first, only the other can
/// be a parent from then on.
void CallTree::nest(const Trace& trace) {
  const Events& events = trace.events();
  struct Thread {
    std::vector<EventId> open;     // may also hold ended ranges, but not on top
    std::vector<EventId> parents;  // possible parents
  };
  std::vector<Thread> threads(trace.tracks().size());
  for (const EventId event : ranges_) {
    auto& [open, parents] = threads[index(events.track(event))];
    const std::int64_t start = events.start_ns(event);
    const std::int64_t end = events.end_ns(event);
    const auto ends = [&](const std::vector<EventId>& stack) {
      return events.end_ns(stack.back());
    };
    while (!open.empty() && ends(open) <= start) open.pop_back();
    const bool is_launch = trace.kind(event) == EventKind::runtime;
    if (is_launch && !open.empty()) parent_[index(event)] = open.back();
    while (!parents.empty() && (ends(parents) < end || ends(parents) <= start)) parents.pop_back();
    if (!is_launch && !parents.empty()) parent_[index(event)] = parents.back();
    open.push_back(event);
    parents.push_back(event);
  }
}

EventId operator_around(const Trace& trace, EventId event) {
  const CallTree& tree = call_tree_of(trace);
  EventId around = tree.parent(event);
  while (around != EventId::none && trace.kind(around) != EventKind::cpu_op) {
    around = tree.parent(around);
  }
  return around;
}

}  // namespace tbtrace
