#include "jobs/collectives/rank_times.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "analyses/attribution/operator_kind.h"
#include "analyses/attribution/runtime_calls.h"
#include "analyses/gpu/activities.h"
#include "analyses/gpu/idle_account.h"
#include "analyses/steps/rules.h"
#include "analyses/steps/step_threads.h"
#include "trace/links.h"

namespace tbtrace::jobs {
namespace {

std::vector<TimeRange>& of(RankTimes& times, RankTime kind) {
  return times[static_cast<std::size_t>(kind)];
}

/// Ranges of c10d around a collective: the host waits or enqueues in them, it does not compute.
bool is_of_collectives(std::string_view name) {
  return name.starts_with("c10d::") || name == "record_param_comms";
}

/// Sorted ranges as a set of time.
class TimeSet {
 public:
  void add(TimeRange time) { add_range(ranges_, time); }
  std::vector<TimeRange> take() { return std::move(ranges_); }

 private:
  std::vector<TimeRange> ranges_;
};

/// What the host did instead of computing, in a trace without a device.
struct HostTimes {
  std::vector<TimeRange> loading;
  std::vector<TimeRange> collecting;  ///< garbage
};

HostTimes host_times(const Trace& trace) {
  const Events& events = trace.events();
  std::vector<EventId> steps;
  for (const Step& step : trace.steps()) steps.push_back(step.event);
  const std::vector<bool> has_steps = analyses::step_threads(trace, steps);
  TimeSet loading;
  TimeSet collecting;
  for (const EventId event : trace.by_start()) {
    if (!is_host_range(trace.kind(event))) continue;
    const TimeRange time = {events.start_ns(event), events.end_ns(event)};
    const std::string_view name = trace.name(event);
    if (analyses::is_data_loading(name)) {
      if (has_steps[index(events.track(event))]) loading.add(time);
    } else if (analyses::is_garbage_collection(name)) {
      collecting.add(time);
    }
  }
  return {loading.take(), collecting.take()};
}

/// Takes the part of `rest` that is in `cause` out of it, and returns it.
std::vector<TimeRange> taken(std::vector<TimeRange>& rest, const std::vector<TimeRange>& cause) {
  std::vector<TimeRange> part = intersection(rest, cause);
  rest = difference(rest, cause);
  return part;
}

void add(std::vector<TimeRange>& times, const std::vector<TimeRange>& more) {
  std::vector<TimeRange> both;
  std::ranges::merge(times, more, std::back_inserter(both), {}, &TimeRange::start,
                     &TimeRange::start);
  times = std::move(both);
}

/// What an idle device counts as. The device's own delay after a launch that came too late is a
/// part of its being late.
RankTime time_of(const Trace& trace, const analyses::IdleSpan& span,
                 const analyses::DeviceGap& gap) {
  switch (span.cause) {
    case IdleCause::device:
      return gap.ended_by.launch != EventId::none &&
                     trace.events().start_ns(gap.ended_by.launch) >= gap.time.start
                 ? RankTime::launch
                 : RankTime::unknown;
    case IdleCause::data:
      return RankTime::input;
    case IdleCause::garbage_collection:
      return RankTime::garbage_collection;
    case IdleCause::host_communication:
      return RankTime::communication;
    case IdleCause::allocation:
      return RankTime::memory;
    case IdleCause::other_device:
    case IdleCause::unrecorded_work:
    case IdleCause::unknown:
      return RankTime::unknown;
    default:
      return RankTime::launch;
  }
}

/// The activities of all devices of the rank, by start.
std::vector<const DeviceLink*> activities(const Trace& trace) {
  std::vector<const DeviceLink*> all;
  for (const DeviceLink& link : links_of(trace).placed_work()) all.push_back(&link);
  return all;
}

RankTimes device_times(const Trace& trace, const std::vector<bool>& is_communication,
                       const std::vector<TimeRange>& computing, std::int64_t start_ns) {
  const Events& events = trace.events();
  const std::vector<const DeviceLink*> work = activities(trace);
  TimeSet communicating;
  TimeSet to_device;
  TimeSet copying;
  TimeRange window = {events.start_ns(work.front()->activity), 0};
  window.end = window.start;
  for (const DeviceLink* const link : work) {
    const EventId event = link->activity;
    const TimeRange time = {events.start_ns(event), events.end_ns(event)};
    window.end = std::max(window.end, time.end);
    if (is_communication[index(event)]) {
      communicating.add(time);
    } else if (trace.kind(event) == EventKind::gpu_memcpy) {
      (trace.name(event).find("HtoD") != std::string_view::npos ? to_device : copying).add(time);
    } else if (trace.kind(event) == EventKind::gpu_memset) {
      copying.add(time);
    }
  }
  // Collectives of the host keep the device waiting as well.
  TimeSet on_host;
  for (const EventId event : trace.by_start()) {
    if (is_host_range(trace.kind(event)) && is_communication[index(event)]) {
      on_host.add({events.start_ns(event), events.end_ns(event)});
    }
  }
  RankTimes times;
  of(times, RankTime::compute) = computing;
  const std::vector<TimeRange> communication = communicating.take();
  of(times, RankTime::communication) = difference(communication, computing);
  const std::vector<TimeRange> copies_in = to_device.take();
  of(times, RankTime::input) = difference(difference(copies_in, computing), communication);
  of(times, RankTime::copy) =
      difference(difference(difference(copying.take(), computing), communication), copies_in);

  window.start = std::min(window.start, start_ns);
  const analyses::DeviceActivities devices = {.activities = work, .window = {window, true}};
  const analyses::StepRules rules(trace, analyses::exact_step_policy());
  const analyses::IdleAccount account =
      std::move(analyses::idle_accounts(trace, rules, {&devices, 1}).front());
  RankTimes idle;
  for (const analyses::IdleSpan& span : account.spans) {
    const TimeRange time = {std::max(span.time.start, window.start),
                            std::min(span.time.end, window.end)};
    if (time.start >= time.end) continue;
    add_range(of(idle, time_of(trace, span, account.gaps[span.gap])), time);
  }
  add(of(idle, RankTime::communication), taken(of(idle, RankTime::launch), on_host.take()));
  for (std::size_t kind = 0; kind < kRankTimes; ++kind) add(times[kind], idle[kind]);
  return times;
}

RankTimes cpu_times(const Trace& trace, const std::vector<bool>& is_communication,
                    const std::vector<TimeRange>& computing, std::int64_t start_ns) {
  const Events& events = trace.events();
  TimeSet communicating;
  TimeSet all;
  for (const EventId event : trace.by_start()) {
    if (!is_host_range(trace.kind(event))) continue;
    const TimeRange time = {events.start_ns(event), events.end_ns(event)};
    all.add(time);
    if (is_communication[index(event)]) communicating.add(time);
  }
  RankTimes times;
  const std::vector<TimeRange> recorded = all.take();
  if (recorded.empty()) return times;
  of(times, RankTime::compute) = computing;
  const std::vector<TimeRange> whole = {
      {std::min(start_ns, recorded.front().start), recorded.back().end}};
  std::vector<TimeRange> late = difference(whole, computing);
  of(times, RankTime::communication) = taken(late, communicating.take());
  const HostTimes host = host_times(trace);
  of(times, RankTime::garbage_collection) = taken(late, host.collecting);
  of(times, RankTime::input) = taken(late, host.loading);
  of(times, RankTime::launch) = std::move(late);
  return times;
}

}  // namespace

std::vector<TimeRange> silent_times(const Trace& trace, std::vector<TimeRange> of) {
  TimeSet recorded;
  for (const EventId event : trace.by_start()) {
    const EventKind kind = trace.kind(event);
    if (kind != EventKind::cpu_op && kind != EventKind::runtime) continue;
    recorded.add({trace.events().start_ns(event), trace.events().end_ns(event)});
  }
  return difference(of, recorded.take());
}

std::vector<TimeRange> computing_times(const Trace& trace,
                                       const std::vector<bool>& is_communication) {
  const Events& events = trace.events();
  TimeSet computing;
  const bool has_device = !links_of(trace).placed_work().empty();
  for (const EventId event : trace.by_start()) {
    const EventKind kind = trace.kind(event);
    const bool is_work = has_device ? kind == EventKind::kernel : kind == EventKind::cpu_op;
    if (!is_work || is_communication[index(event)]) continue;
    if (has_device ? links_of(trace).is_misplaced(event) : is_of_collectives(trace.name(event))) {
      continue;
    }
    computing.add({events.start_ns(event), events.end_ns(event)});
  }
  return computing.take();
}

RankTimes rank_times(const Trace& trace, const std::vector<bool>& is_communication,
                     const std::vector<TimeRange>& computing, std::int64_t start_ns) {
  const bool has_device = !links_of(trace).placed_work().empty();
  return has_device ? device_times(trace, is_communication, computing, start_ns)
                    : cpu_times(trace, is_communication, computing, start_ns);
}

}  // namespace tbtrace::jobs
