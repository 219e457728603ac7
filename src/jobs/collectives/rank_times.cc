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
#include "analyses/gpu/gaps.h"
#include "analyses/steps/step_threads.h"
#include "trace/call_tree.h"
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

/// What the host did that explains an idle device.
struct HostTimes {
  std::vector<TimeRange> loading;
  std::vector<TimeRange> collecting;  ///< garbage
  std::vector<TimeRange> memory;
};

/// The waits of an operator that also allocates or frees are for that: the allocator frees its
/// cached blocks after the device is through with them.
bool waits_for_memory(const CallTree& tree, const std::vector<EventId>& allocating, EventId wait) {
  const EventId around = tree.parent(wait);
  return around != EventId::none && std::ranges::binary_search(allocating, around);
}

HostTimes host_times(const Trace& trace) {
  const Events& events = trace.events();
  const CallTree& tree = call_tree_of(trace);
  std::vector<EventId> allocating;  // operators that allocate or free
  const auto calls_for_memory = [&](EventId event) {
    return trace.kind(event) == EventKind::runtime &&
           analyses::runtime_call(trace.name(event)) == analyses::RuntimeCall::allocation;
  };
  for (const EventId event : trace.by_start()) {
    if (calls_for_memory(event) && tree.parent(event) != EventId::none) {
      allocating.push_back(tree.parent(event));
    }
  }
  std::ranges::sort(allocating);
  std::vector<EventId> steps;
  for (const Step& step : trace.steps()) steps.push_back(step.event);
  const std::vector<bool> has_steps = analyses::step_threads(trace, steps);
  TimeSet loading;
  TimeSet collecting;
  TimeSet memory;
  for (const EventId event : trace.by_start()) {
    const EventKind kind = trace.kind(event);
    if (!is_host_range(kind)) continue;
    const TimeRange time = {events.start_ns(event), events.end_ns(event)};
    const std::string_view name = trace.name(event);
    if (analyses::is_data_loading(name)) {
      if (has_steps[index(events.track(event))]) loading.add(time);
      continue;
    }
    if (analyses::is_garbage_collection(name)) collecting.add(time);
    const bool is_memory =
        calls_for_memory(event) || (kind == EventKind::runtime &&
                                    analyses::runtime_call(name) == analyses::RuntimeCall::wait &&
                                    waits_for_memory(tree, allocating, event));
    if (is_memory) memory.add(time);
  }
  return {loading.take(), collecting.take(), memory.take()};
}

/// Takes the part of `rest` that is in `cause` out of it, and returns it.
std::vector<TimeRange> taken(std::vector<TimeRange>& rest, const std::vector<TimeRange>& cause) {
  std::vector<TimeRange> part = intersection(rest, cause);
  rest = difference(rest, cause);
  return part;
}

/// Divides the idle time that the host caused.
void divide_host_wait(RankTimes& times, std::vector<TimeRange> late, const HostTimes& host) {
  of(times, RankTime::garbage_collection) = taken(late, host.collecting);
  of(times, RankTime::memory) = taken(late, host.memory);
  std::vector<TimeRange>& input = of(times, RankTime::input);
  const std::vector<TimeRange> loading = taken(late, host.loading);
  std::vector<TimeRange> both;
  std::ranges::merge(input, loading, std::back_inserter(both), {}, &TimeRange::start,
                     &TimeRange::start);
  input = std::move(both);
  of(times, RankTime::launch) = std::move(late);
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

  std::vector<TimeRange> late;
  std::vector<TimeRange> other;
  if (start_ns < window.start) late.push_back({start_ns, window.start});
  for (const analyses::DeviceGap& gap :
       analyses::device_gaps(trace, work, window, std::int64_t{1} << 62)) {
    (gap.cause == analyses::GapCause::host_wait ? late : other).push_back(gap.time);
  }
  const std::vector<TimeRange> host_collectives = on_host.take();
  std::vector<TimeRange> both;
  const std::vector<TimeRange> waited = taken(late, host_collectives);
  std::ranges::merge(of(times, RankTime::communication), waited, std::back_inserter(both), {},
                     &TimeRange::start, &TimeRange::start);
  of(times, RankTime::communication) = std::move(both);
  divide_host_wait(times, std::move(late), host_times(trace));
  of(times, RankTime::unknown) = std::move(other);
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
  divide_host_wait(times, std::move(late), host_times(trace));
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
