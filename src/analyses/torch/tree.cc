#include "analyses/torch/tree.h"

#include <algorithm>
#include <queue>
#include <utility>
#include <vector>

#include "base/id_map.h"
#include "trace/links.h"
#include "trace/track_keys.h"

namespace tbtrace::analyses {
namespace {

bool is_profiler_range(EventKind kind) {
  return kind == EventKind::cpu_op || kind == EventKind::user_annotation ||
         kind == EventKind::python_function;
}

}  // namespace

TorchTree::TorchTree(const Trace& trace, const ForwardThreads& threads) {
  nest(trace, threads);
  settle(trace);
}

void TorchTree::nest(const Trace& trace, const ForwardThreads& threads) {
  const Events& events = trace.events();
  parent_.resize(events.size(), EventId::none);
  closed_.resize(events.size(), 0);
  std::vector<EventId> top(trace.tracks().size(), EventId::none);  // by thread
  using End = std::pair<std::int64_t, EventId>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;

  // Closing a range closes everything inside it on its thread.
  const auto close = [&](EventId event) {
    if (closed_[index(event)] != 0) return;
    EventId& frame = top[index(events.track(event))];
    for (EventId above = frame; above != event && above != EventId::none;
         above = parent_[index(above)]) {
      closed_[index(above)] = 1;
    }
    closed_[index(event)] = 1;
    frame = parent_[index(event)];
  };

  const RangesWithoutEnd without_end(trace);
  for (const EventId event : trace.by_start()) {
    if (!is_profiler_range(trace.kind(event))) continue;
    while (!ends.empty() && ends.top().first < events.start_ns(event)) {
      close(ends.top().second);
      ends.pop();
    }
    EventId& frame = top[index(events.track(event))];
    parent_[index(event)] = frame;
    if (frame == EventId::none) {
      TrackId forward = {};
      if (threads.find(event, forward)) parent_[index(event)] = top[index(forward)];
    }
    if (without_end.contains(event)) {
      frame = event;
    } else if (events.duration_ns(event) > 0) {
      frame = event;
      ends.emplace(events.end_ns(event), event);
    } else {
      closed_[index(event)] = 1;
    }
  }
  for (; !ends.empty(); ends.pop()) close(ends.top().second);
}

/// Computes what depends on parents; parents come before their children.
void TorchTree::settle(const Trace& trace) {
  const Events& events = trace.events();
  python_parent_.resize(events.size(), EventId::none);
  end_ns_.resize(events.size(), 0);
  const RangesWithoutEnd without_end(trace);
  for (const EventId event : trace.by_start()) {
    const EventId up = parent_[index(event)];
    if (up != EventId::none) {
      python_parent_[index(event)] = events.is_python_frame(up) ? up : python_parent_[index(up)];
    }
    std::int64_t& end = end_ns_[index(event)];
    if (!without_end.contains(event)) {
      end = events.end_ns(event);
    } else if (closed_[index(event)] != 0 && up != EventId::none) {
      end = end_ns_[index(up)];
    } else {
      end = trace.window_end_ns();
    }
  }
}

}  // namespace tbtrace::analyses
