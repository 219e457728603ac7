#include "analyses/attribution/work_times.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "analyses/attribution/runtime_calls.h"
#include "base/bounded_sum.h"
#include "trace/links.h"
#include "trace/times.h"

namespace tbtrace::analyses {
namespace {

constexpr std::int64_t kFarNs = 1'000'000;
constexpr std::int64_t kVeryFarNs = 10 * kFarNs;
constexpr std::int64_t kJumpNs = 600'000'000'000;

/// The activity of a stream that ends last so far.
struct Open {
  EventId activity = EventId::none;
  std::int64_t end = INT64_MIN;
  std::int64_t first_later_start = INT64_MAX;  ///< of those that begin and end in it
  std::size_t later = 0;
};

bool is_of_graph(const Trace& trace, const DeviceLink& link) {
  return link.launch != EventId::none &&
         trace.name(link.launch).find("Graph") != std::string_view::npos;
}

std::string activities(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " device activity" : " device activities");
}

}  // namespace

std::vector<Overrun> stream_overruns(const Trace& trace) {
  const Events& events = trace.events();
  std::map<TrackId, Open> streams;
  std::vector<Overrun> overruns;
  const auto close = [&](const Open& open) {
    if (open.later == 0) return;
    const std::int64_t ns = open.end - open.first_later_start;
    if (ns > (open.later > 1 ? kFarNs : kVeryFarNs)) overruns.push_back({open.activity, ns});
  };
  for (const DeviceLink& link : links_of(trace).placed_work()) {
    if (is_of_graph(trace, link)) continue;
    Open& open = streams[events.track(link.activity)];
    const std::int64_t start = events.start_ns(link.activity);
    const std::int64_t end = events.end_ns(link.activity);
    if (end > open.end) {
      close(open);
      open = {.activity = link.activity, .end = end};
    } else if (end < open.end && start > events.start_ns(open.activity)) {
      open.first_later_start = std::min(open.first_later_start, start);
      ++open.later;
    }
  }
  for (const auto& [stream, open] : streams) close(open);
  std::ranges::sort(overruns, {}, [&](const Overrun& overrun) {
    return std::pair(events.start_ns(overrun.activity), index(overrun.activity));
  });
  return overruns;
}

std::vector<ClockJump> clock_jumps(const Trace& trace) {
  const Events& events = trace.events();
  std::vector<ClockJump> jumps;
  const LostTimes lost(trace);
  std::optional<std::int64_t> end;  // of all events so far
  for (const EventId event : trace.by_start()) {
    if (trace.kind(event) == EventKind::trace_span) continue;
    if (links_of(trace).is_misplaced(event) || lost.contains(event)) continue;
    const std::int64_t start = events.start_ns(event);
    if (end && WideInteger{start} - *end >= kJumpNs) jumps.push_back({{*end, start}, event});
    end = std::max(end.value_or(events.end_ns(event)), events.end_ns(event));
  }
  return jumps;
}

std::vector<EventId> waits_for_unrecorded_work(const Trace& trace) {
  constexpr std::int64_t kLongAfter = 1'000'000;  // ns
  const Events& events = trace.events();
  const Links& links = links_of(trace);
  std::map<std::uint32_t, std::vector<TimeRange>> busy;  // by process
  for (const DeviceLink& link : links.placed_work()) {
    add_range(busy[links.scope(trace, link.activity)],
              {events.start_ns(link.activity), events.end_ns(link.activity)});
  }
  RuntimeCalls calls(trace);
  std::vector<EventId> waits;
  for (const EventId event : trace.by_start()) {
    if (trace.kind(event) != EventKind::runtime || events.duration_ns(event) < kLongAfter) continue;
    if (calls.of(event) != RuntimeCall::wait) continue;
    const auto of_process = busy.find(links.scope(events.track(event)));
    if (of_process == busy.end()) continue;
    const std::int64_t end = events.end_ns(event);
    const auto after = std::ranges::lower_bound(of_process->second, end, {}, &TimeRange::start);
    // At its end a recording waits for more than the device.
    if (after == of_process->second.begin() || after == of_process->second.end()) continue;
    const std::int64_t done = std::max(events.start_ns(event), (after - 1)->end);
    if (end - done >= kLongAfter) waits.push_back(event);
  }
  std::ranges::sort(waits);
  return waits;
}

bool has_whole_microseconds(const Trace& trace) {
  const Events& events = trace.events();
  const std::span<const EventId> all = trace.by_start();
  return std::all_of(all.begin(), all.end(), [&](EventId event) {
    return events.start_ns(event) % 1000 == 0 && events.duration_ns(event) % 1000 == 0;
  });
}

bool lacks_durations(const Trace& trace) {
  const std::span<const DeviceLink> work = links_of(trace).placed_work();
  const auto without =
      static_cast<std::size_t>(std::ranges::count_if(work, [&](const DeviceLink& link) {
        return trace.events().duration_ns(link.activity) == 0;
      }));
  if (without * 10 <= work.size()) return false;
  return without * 2 > work.size() || !has_whole_microseconds(trace);
}

std::vector<std::string> work_time_notes(const Trace& trace) {
  std::vector<std::string> notes;
  const LostTimes lost_times(trace);
  const std::span<const EventId> lost = lost_times.at_zero();
  const auto lost_work = static_cast<std::size_t>(std::ranges::count_if(
      links_of(trace).misplaced(), [&](EventId event) { return lost_times.contains(event); }));
  if (!lost.empty()) {
    notes.push_back("The times of " + std::to_string(lost.size()) +
                    " events were lost. Windows, idle time and steps are without them "
                    "(times_of_zero).");
  }
  const std::size_t misplaced = links_of(trace).misplaced().size() - lost_work;
  if (misplaced > 0) {
    std::string note = "The times of ";
    note += activities(misplaced);
    note +=
        " lie far outside the recording or before their launch. Windows, idle time and steps are "
        "without them (misplaced_device_work).";
    notes.push_back(std::move(note));
  }
  const std::vector<Overrun> overruns = stream_overruns(trace);
  if (!overruns.empty()) {
    WideInteger ns = 0;
    for (const Overrun& overrun : overruns) ns += overrun.ns;
    notes.push_back(activities(overruns.size()) + (overruns.size() == 1 ? " runs" : " run") +
                    " on while later ones of the same stream begin and end, " +
                    std::to_string(bounded(ns / 1000)) +
                    " us in all. Their durations may be wrong (stream_overruns).");
  }
  if (lacks_durations(trace)) {
    notes.emplace_back(
        "Many device activities have no duration, so the device was busier than these figures say "
        "(zero_durations).");
  }
  return notes;
}

}  // namespace tbtrace::analyses
