#include "trace/links.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/bounded_sum.h"
#include "base/id_map.h"
#include "trace/launch_search.h"
#include "trace/nearest_range.h"
#include "trace/scoped_ids.h"
#include "trace/times.h"
#include "trace/track_keys.h"

namespace tbtrace {
namespace {

/// Launches and launched rows carry both ids. If they are equal in 90 % of the rows or more, the
/// `External id` carries no information.
class ExternalIds {
 public:
  void look_at(const Trace& trace, EventId event) {
    const std::int64_t external_id = trace.external_id(event);
    const std::int64_t correlation = trace.correlation(event);
    if (external_id == 0 || correlation == 0) return;
    ++both_;
    equal_ += external_id == correlation ? 1 : 0;
  }
  bool are_valid() const { return both_ == 0 || equal_ * 10 < both_ * 9; }

 private:
  std::uint64_t both_ = 0;
  std::uint64_t equal_ = 0;
};

bool is_at(const Trace& trace, EventId event, const FlowEnd& end) {
  return trace.events().track(event) == end.track && trace.events().start_ns(event) == end.time_ns;
}

}  // namespace

Links::Links(const Trace& trace, const CallTree& tree) : scopes_(trace) {
  ExternalIds ids;
  Column<EventId> calls;
  for (const EventId event : trace.by_start()) {
    const EventKind kind = trace.kind(event);
    if (is_device_work(kind)) {
      work_.push_back({.activity = event});
    } else if (kind == EventKind::runtime) {
      calls.push_back(event);
    } else {
      continue;
    }
    ids.look_at(trace, event);
  }
  report_.external_ids_valid = ids.are_valid();
  if (work_.empty()) return;
  if (scopes_.is_single()) {
    find_launches(trace, calls.view());
  } else {
    find_launches_of_processes(trace, calls.view());
  }
  find_launches_by_flow(trace, calls.view());
  if (!scopes_.is_single()) {
    launch_.resize(trace.events().size(), EventId::none);
    for (const DeviceLink& link : work_) launch_[index(link.activity)] = link.launch;
  }
  find_operators(trace, tree);
  find_misplaced(trace);
  count(trace);
}

void Links::find_misplaced(const Trace& trace) {
  const Events& events = trace.events();
  const LostTimes lost(trace);
  std::optional<TimeRange> host;
  for (const EventId event : trace.by_start()) {
    if (!is_host_range(trace.kind(event)) || lost.contains(event)) continue;
    if (!host) host = {events.start_ns(event), events.end_ns(event)};
    host->end = std::max(host->end, events.end_ns(event));
  }
  std::vector<TimeRange> times;  // of work that has not lost them
  times.reserve(work_.size());
  for (const DeviceLink& link : work_) {
    if (lost.contains(link.activity)) continue;
    times.push_back({events.start_ns(link.activity), events.end_ns(link.activity)});
  }
  const std::optional<TimeRange> reach = host ? recording_reach(*host, times) : std::nullopt;
  std::size_t far = 0;
  const auto is_far = [&](const DeviceLink& link) {
    const TimeRange time = {events.start_ns(link.activity), events.end_ns(link.activity)};
    const bool is_before_launch =
        link.launch != EventId::none && !lost.contains(link.launch) &&
        WideInteger{events.start_ns(link.launch)} - time.start > kFarBeforeLaunchNs;
    return is_before_launch || (reach && is_outside(*reach, time));
  };
  for (const DeviceLink& link : work_) {
    const bool is_lost = lost.contains(link.activity);
    if (!is_lost && !is_far(link)) continue;
    misplaced_.push_back(link.activity);
    far += is_lost ? 0 : 1;
  }
  if (far * 2 >= times.size()) {
    std::erase_if(misplaced_, [&](EventId event) { return !lost.contains(event); });
  }
  if (misplaced_.empty()) return;
  is_misplaced_.insert(misplaced_.begin(), misplaced_.end());
  for (const DeviceLink& link : work_) {
    if (!is_misplaced_.contains(link.activity)) placed_.push_back(link);
  }
}

std::uint32_t Links::scope_of_several(const Trace& trace, EventId event) const {
  const bool is_linked = !launch_.empty() && launch_[index(event)] != EventId::none;
  return scopes_.of(trace.events().track(is_linked ? launch_[index(event)] : event));
}

void Links::find_launches_of_processes(const Trace& trace, std::span<const EventId> calls) {
  Column<EventId> work;
  for (const DeviceLink& link : work_) work.push_back(link.activity);
  const LaunchSearch search(trace, scopes_, calls, work.view());
  for (DeviceLink& link : work_) {
    if (trace.correlation(link.activity) == 0) continue;
    link.launch = search.launch_of(link.activity);
    if (link.launch != EventId::none) ++report_.launch_by_correlation;
  }
}

/// The map is over the work, because there is less work than calls.
void Links::find_launches(const Trace& trace, std::span<const EventId> calls) {
  constexpr std::size_t kAhead = 16;
  IdMap work_of(work_.size());
  Column<std::uint32_t> same_correlation;  // row of work_ -> next row with the same
  same_correlation.resize(work_.size(), IdMap::kNone);
  for (std::size_t row = work_.size(); row-- > 0;) {
    if (row >= kAhead) work_of.prefetch(trace.correlation(work_[row - kAhead].activity));
    const std::int64_t correlation = trace.correlation(work_[row].activity);
    if (correlation == 0) continue;
    same_correlation[row] = work_of.replace(correlation, static_cast<std::uint32_t>(row));
  }
  for (std::size_t call = 0; call < calls.size(); ++call) {
    const EventId event = calls[call];
    if (calls.size() - call > kAhead) work_of.prefetch(trace.correlation(calls[call + kAhead]));
    const std::int64_t correlation = trace.correlation(event);
    if (correlation == 0) continue;
    std::uint32_t row = work_of.find(correlation);
    if (row == IdMap::kNone || work_[row].launch != EventId::none) continue;
    for (; row != IdMap::kNone; row = same_correlation[row]) {
      work_[row].launch = event;
      ++report_.launch_by_correlation;
    }
  }
}

/// A flow event leads from the start of the launch to the start of the work. The search starts from
/// the remaining work, so that the maps stay small.
void Links::find_launches_by_flow(const Trace& trace, std::span<const EventId> calls) {
  const std::size_t left = work_.size() - report_.launch_by_correlation;
  if (left == 0) return;
  const Events& events = trace.events();
  const std::span<const FlowEnd> flows = trace.flows();
  IdMap work_at(left);
  for (const DeviceLink& link : work_) {
    if (link.launch != EventId::none) continue;
    work_at.insert(place_key(events.track(link.activity), events.start_ns(link.activity)), 0);
  }
  IdMap end_at;
  IdMap wanted_ids;
  for (std::uint32_t row = 0; row < flows.size(); ++row) {
    if (flows[row].type != FlowEnd::Type::launch || flows[row].start) continue;
    const std::int64_t place = place_key(flows[row].track, flows[row].time_ns);
    if (work_at.find(place) == IdMap::kNone) continue;
    end_at.insert(place, row);
    wanted_ids.insert(flows[row].id, row);
  }
  if (end_at.size() == 0) return;
  ScopedIds start_of_id(scopes_.count());
  IdMap starts_at;
  for (std::uint32_t row = 0; row < flows.size(); ++row) {
    if (flows[row].type != FlowEnd::Type::launch || !flows[row].start) continue;
    if (wanted_ids.find(flows[row].id) == IdMap::kNone) continue;
    start_of_id.insert(scopes_.of(flows[row].track), flows[row].id, row);
    starts_at.insert(place_key(flows[row].track, flows[row].time_ns), row);
  }
  // Writers without launch rows start flow events at operators (torch.autograd.profiler, Ascend).
  IdMap operator_at;
  for (const EventId event : trace.by_start()) {
    if (trace.kind(event) != EventKind::cpu_op) continue;
    const std::int64_t place = place_key(events.track(event), events.start_ns(event));
    if (starts_at.find(place) == IdMap::kNone) continue;
    operator_at.replace(place, static_cast<std::uint32_t>(event));
  }
  IdMap launch_at;
  for (const EventId event : calls) {
    const std::int64_t place = place_key(events.track(event), events.start_ns(event));
    if (starts_at.find(place) == IdMap::kNone) continue;
    launch_at.insert(place, static_cast<std::uint32_t>(event));
  }
  for (DeviceLink& link : work_) {
    if (link.launch != EventId::none) continue;
    const std::uint32_t end =
        end_at.find(place_key(events.track(link.activity), events.start_ns(link.activity)));
    if (end == IdMap::kNone || !is_at(trace, link.activity, flows[end])) continue;
    const std::uint32_t start =
        start_of_id.find(scopes_.of(events.track(link.activity)), flows[end].id);
    if (start == IdMap::kNone) continue;
    const std::int64_t place = place_key(flows[start].track, flows[start].time_ns);
    const auto launch = static_cast<EventId>(launch_at.find(place));
    if (launch != EventId::none && is_at(trace, launch, flows[start])) {
      link.launch = launch;
      ++report_.launch_by_flow;
      continue;
    }
    const auto op = static_cast<EventId>(operator_at.find(place));
    if (op == EventId::none || !is_at(trace, op, flows[start])) continue;
    link.op = op;  // unless an id names another
  }
}

void Links::find_operators(const Trace& trace, const CallTree& tree) {
  ScopedIds operators(scopes_.count());
  std::unordered_map<EventId, std::size_t> more_of;  // first operator with an id -> how many more
  if (report_.external_ids_valid) {
    for (const EventId event : trace.by_start()) {
      if (!names_operators(trace.kind(event))) continue;
      const std::int64_t id = trace.external_id(event);
      if (id == 0) continue;
      const std::uint32_t process = scope(trace, event);
      if (operators.insert(process, id, static_cast<std::uint32_t>(event))) continue;
      ++more_of[static_cast<EventId>(operators.find(process, id))];
    }
  }
  const bool has_ids = !operators.empty();
  Column<EventId> nearest;
  for (DeviceLink& link : work_) {
    const EventId by_flow = std::exchange(link.op, EventId::none);
    for (const EventId named_by : {link.activity, link.launch}) {
      if (!has_ids || named_by == EventId::none || link.op != EventId::none) continue;
      const std::int64_t id = trace.external_id(named_by);
      if (id != 0) link.op = static_cast<EventId>(operators.find(scope(trace, named_by), id));
      const auto more = named_by == link.activity ? more_of.find(link.op) : more_of.end();
      const bool is_over = more != more_of.end() && more->second >= LinkReport::kMostOperators;
      report_.work_over_operator_limit += is_over ? 1 : 0;
    }
    if (link.op != EventId::none) {
      ++report_.operator_by_external_id;
    } else if (by_flow != EventId::none) {
      link.op = by_flow;
      ++report_.operator_by_flow;
    } else if (link.launch != EventId::none) {
      if (nearest.empty()) nearest = nearest_operators_or_annotations(trace, tree);
      link.op = nearest[index(link.launch)];
      if (link.op != EventId::none) ++report_.operator_by_containment;
    }
  }
}

void Links::count(const Trace& trace) {
  report_.launch_unknown = work_.size() - report_.launch_by_correlation - report_.launch_by_flow;
  report_.operator_unknown = work_.size() - report_.operator_by_flow -
                             report_.operator_by_external_id - report_.operator_by_containment;
  for (const DeviceLink& link : work_) {
    const std::int64_t duration = trace.events().duration_ns(link.activity);
    const bool known = link.op != EventId::none || link.launch != EventId::none;
    add_bounded(known ? report_.linked_ns : report_.unlinked_ns, duration);
  }
}

}  // namespace tbtrace
