#include "analyses/findings/idle_gaps.h"

#include <algorithm>
#include <unordered_map>

#include "analyses/findings/event_text.h"
#include "trace/call_tree.h"
#include "trace/links.h"

namespace tbtrace::analyses {
namespace {

/// The thread that launched an activity; without a launch, the one of the first operator.
TrackId launching_thread(const Trace& trace, EventId activity) {
  for (const DeviceLink& link : links_of(trace).device_work()) {
    if (link.activity == activity && link.launch != EventId::none) {
      return trace.events().track(link.launch);
    }
  }
  for (const EventId event : trace.by_start()) {
    if (trace.kind(event) == EventKind::cpu_op) return trace.events().track(event);
  }
  return trace.events().track(activity);
}

/// The range of a thread that has most of a time to itself; EventId::none if there is none.
EventId busiest_range(const Trace& trace, TrackId thread, TimeRange time) {
  const Events& events = trace.events();
  const CallTree& tree = call_tree_of(trace);
  std::unordered_map<EventId, std::int64_t> own;
  for (const EventId event : trace.by_start()) {
    if (events.start_ns(event) >= time.end) break;
    if (events.track(event) != thread || !is_host_range(trace.kind(event))) continue;
    const std::int64_t overlap =
        std::min(events.end_ns(event), time.end) - std::max(events.start_ns(event), time.start);
    if (overlap <= 0) continue;
    own[event] += overlap;
    if (const EventId around = tree.parent(event); around != EventId::none) own[around] -= overlap;
  }
  EventId most = EventId::none;
  for (const auto& [event, ns] : own) {
    if (ns <= 0) continue;
    const bool is_more =
        most == EventId::none || ns > own[most] || (ns == own[most] && event < most);
    if (is_more) most = event;
  }
  return most;
}

/// The range and, if it is none itself, the Python function around it.
std::string described(const Trace& trace, EventId range) {
  if (range == EventId::none) return {};
  std::string text = name_text(trace.name(range));
  const CallTree& tree = call_tree_of(trace);
  for (EventId around = range; around != EventId::none; around = tree.parent(around)) {
    if (!trace.events().is_python_frame(around) || trace.events().is_module(around)) continue;
    if (around != range) text += " in " + name_text(trace.name(around));
    break;
  }
  return text;
}

}  // namespace

std::vector<IdleGap> longest_gaps(const Trace& trace, std::span<const DeviceGap> gaps,
                                  std::size_t most) {
  const auto length = [](const DeviceGap& gap) { return gap.time.end - gap.time.start; };
  std::vector<DeviceGap> sorted;
  for (const DeviceGap& gap : gaps) {
    if (gap.ended_by != EventId::none) sorted.push_back(gap);
  }
  std::ranges::stable_sort(sorted, std::ranges::greater(), length);
  sorted.resize(std::min(sorted.size(), most), DeviceGap());
  std::vector<IdleGap> longest;
  for (const DeviceGap& gap : sorted) {
    const TrackId thread = launching_thread(trace, gap.ended_by);
    longest.push_back(
        {length(gap), gap.ended_by, described(trace, busiest_range(trace, thread, gap.time))});
  }
  return longest;
}

}  // namespace tbtrace::analyses
