#include "chrome/rows/selection.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "trace/event_batch.h"
#include "trace/links.h"

namespace tbtrace::chrome {
namespace {

const std::string kNoProcess;

constexpr std::uint32_t kBothEnds = 0;
constexpr std::uint32_t kOneEnd = 1;

SliceKind slice_kind(EventKind kind) {
  switch (kind) {
    case EventKind::cpu_op:
      return SliceKind::operators;
    case EventKind::user_annotation:
    case EventKind::gpu_user_annotation:
      return SliceKind::annotations;
    case EventKind::python_function:
      return SliceKind::frames;
    case EventKind::runtime:
      return SliceKind::calls;
    case EventKind::kernel:
    case EventKind::gpu_memcpy:
    case EventKind::gpu_memset:
    case EventKind::device_other:
      return SliceKind::kernels;
    default:
      return SliceKind::other;
  }
}

}  // namespace

bool is_of_device(EventKind kind) {
  return is_device_work(kind) || kind == EventKind::device_other ||
         kind == EventKind::gpu_user_annotation;
}

RowSelection::RowSelection(const Trace& trace, Selected wanted)
    : trace_(trace), wanted_(std::move(wanted)), ranges_(trace.events().size()) {
  find_places();
  if (wanted_.accepts_name) find_named();
  if (wanted_.host) find_first_memory();
  choose_host();
  choose_devices();
  choose_flows();
  leave_out_kinds();
}

std::string RowSelection::id_of(const TrackKey& key) const {
  return key.text == StringId::empty ? key.number_text() : std::string(trace_.string(key.text));
}

void RowSelection::find_places() {
  for (const Track& track : trace_.tracks()) {
    places_.push_back({id_of(track.process), id_of(track.thread)});
  }
}

bool RowSelection::overlaps(EventId event, const TimeRange& time) const {
  const std::int64_t start = trace_.events().start_ns(event);
  return start < time.end && (start >= time.start || trace_.events().end_ns(event) > time.start);
}

bool RowSelection::is_open(EventId event) const {
  return !wanted_.host || overlaps(event, *wanted_.host);
}

void RowSelection::find_first_memory() {
  for (const MemoryRecord& record : trace_.memory()) {
    if (record.time_ns >= wanted_.host->start || record.total_allocated_bytes < 0) continue;
    const auto [before, is_new] =
        memory_before_.emplace(std::pair(record.device_type, record.device_id), record.time_ns);
    if (!is_new) before->second = std::max(before->second, record.time_ns);
  }
}

void RowSelection::find_named() {
  std::unordered_map<StringId, bool> known;
  for (const EventId event : trace_.by_start()) {
    if (is_of_device(trace_.kind(event))) continue;
    const StringId name = trace_.events().name(event);
    auto found = known.find(name);
    if (found == known.end()) {
      found = known.emplace(name, wanted_.accepts_name(trace_.string(name))).first;
    }
    if (!found->second || !is_open(event)) continue;
    add_range(named_[place_of(trace_.events().track(event))],
              {trace_.events().start_ns(event), trace_.events().end_ns(event)});
  }
}

bool RowSelection::is_in_named(const Place& place, TimeRange time) const {
  const auto found = named_.find(place);
  if (found == named_.end()) return false;
  const auto after = std::ranges::upper_bound(found->second, time.start, {}, &TimeRange::start);
  return after != found->second.begin() && time.end <= std::prev(after)->end;
}

void RowSelection::choose_host() {
  const Events& events = trace_.events();
  for (std::size_t number = 0; number < events.size(); ++number) {
    const auto event = static_cast<EventId>(number);
    const EventKind kind = trace_.kind(event);
    if (is_of_device(kind) || !is_open(event)) continue;
    // The recording's window becomes that of the part.
    if (kind == EventKind::trace_span) {
      ranges_[number] = true;
      continue;
    }
    const Place& place = place_of(events.track(event));
    ranges_[number] = takes_thread(place.thread) &&
                      (!wanted_.accepts_name ||
                       is_in_named(place, {events.start_ns(event), events.end_ns(event)}));
  }
  // A step that is cut would be taken for a short one.
  for (const Step& step : trace_.steps()) {
    if (step.event != EventId::none && cuts(step.event)) ranges_[index(step.event)] = false;
  }
}

void RowSelection::choose_devices() {
  const Events& events = trace_.events();
  const auto is_chosen = [&](EventId event, bool is_launched) {
    if (!wanted_.threads.empty()) return false;
    if (wanted_.accepts_name) return is_open(event) && wanted_.accepts_name(trace_.name(event));
    if (wanted_.devices) return overlaps(event, *wanted_.devices);
    return !is_launched && is_open(event);
  };
  for (std::size_t number = 0; number < events.size(); ++number) {
    const auto event = static_cast<EventId>(number);
    const EventKind kind = trace_.kind(event);
    if (is_of_device(kind) && !is_device_work(kind)) ranges_[number] = is_chosen(event, false);
  }
  std::vector<EventId> brought_along;
  for (const DeviceLink& link : links_of(trace_).device_work()) {
    const bool is_launched = link.launch != EventId::none;
    const bool takes =
        (is_launched && ranges_[index(link.launch)]) || is_chosen(link.activity, is_launched);
    ranges_[index(link.activity)] = takes;
    if (!takes) continue;
    if (is_launched) {
      brought_along.push_back(link.launch);
      launched_.insert(trace_.correlation(link.activity), kBothEnds);
    }
    if (link.op != EventId::none) brought_along.push_back(link.op);
  }
  for (const EventId event : brought_along) ranges_[index(event)] = true;
}

/// A flow that has lost an end would lead nowhere. Ids are those of a process, but launches lead to
/// devices.
void RowSelection::choose_flows() {
  std::vector<FlowIds*> by_track;
  for (const Place& place : places_) by_track.push_back(&flows_[place.process]);
  FlowIds& launches = flows_[kNoProcess];
  const auto ids_of = [&](const FlowEnd& end) -> IdMap& {
    const bool is_launch = end.type == FlowEnd::Type::launch;
    return (is_launch ? launches : *by_track[index(end.track)])[static_cast<std::size_t>(end.type)];
  };
  const auto is_inside = [&](const FlowEnd& end) {
    if (!takes_time(end.time_ns)) return false;
    const Place& place = place_of(end.track);
    return takes_thread(place.thread) &&
           (!wanted_.accepts_name || is_in_named(place, {end.time_ns, end.time_ns}));
  };
  for (const FlowEnd& end : trace_.flows()) {
    if (is_inside(end)) ids_of(end).insert(end.id, kBothEnds);
  }
  for (const FlowEnd& end : trace_.flows()) {
    if (is_inside(end)) continue;
    IdMap& ids = ids_of(end);
    if (ids.find(end.id) != IdMap::kNone) ids.replace(end.id, kOneEnd);
  }
}

void RowSelection::leave_out_kinds() {
  if (wanted_.kinds == kAllSliceKinds) return;
  for (std::size_t number = 0; number < ranges_.size(); ++number) {
    if (!takes(slice_kind(trace_.kind(static_cast<EventId>(number))))) ranges_[number] = false;
  }
  const auto leave_out = [&](FlowEnd::Type type) {
    for (auto& [process, ids] : flows_) ids[static_cast<std::size_t>(type)] = IdMap();
  };
  if (!takes(SliceKind::operators)) leave_out(FlowEnd::Type::forward_backward);
  if (!takes(SliceKind::calls) || !takes(SliceKind::kernels)) {
    leave_out(FlowEnd::Type::launch);
    launched_ = IdMap();
  }
}

bool RowSelection::is_empty() const {
  const auto takes_instant = [&](const Instant& instant) {
    return takes_other(instant.time_ns, id_of(instant.thread));
  };
  // Counters of a process are not what was meant by threads that it does not have.
  const auto takes_counter = [&](const CounterValue& value) {
    return wanted_.threads.empty() && takes_other(value.time_ns, std::nullopt);
  };
  for (std::size_t number = 0; number < ranges_.size(); ++number) {
    const bool is_window = trace_.kind(static_cast<EventId>(number)) == EventKind::trace_span;
    if (ranges_[number] && !is_window) return false;
  }
  return std::ranges::none_of(trace_.memory(),
                              [&](const MemoryRecord& record) {
                                return takes_time(record.time_ns) &&
                                       takes_memory(record, place_of(record.track));
                              }) &&
         std::ranges::none_of(instants_of(trace_), takes_instant) &&
         std::ranges::none_of(counter_values_of(trace_), takes_counter);
}

TimeRange RowSelection::time(EventId event) const {
  const TimeRange time = {trace_.events().start_ns(event), trace_.events().end_ns(event)};
  if (trace_.kind(event) == EventKind::trace_span && wanted_.host) {
    const TimeRange devices = wanted_.devices.value_or(*wanted_.host);
    return {std::max(time.start, std::min(wanted_.host->start, devices.start)),
            std::min(time.end, std::max(wanted_.host->end, devices.end))};
  }
  // A call that an activity of the time brought along stays whole.
  if (!wanted_.host || is_of_device(trace_.kind(event)) || !is_open(event)) return time;
  return {std::max(time.start, wanted_.host->start), std::min(time.end, wanted_.host->end)};
}

bool RowSelection::takes_memory(const MemoryRecord& record, const Place& place) const {
  if (!takes(SliceKind::memory) || !takes_thread(place.thread)) return false;
  const std::int64_t time = record.time_ns;
  if (wanted_.accepts_name && !is_in_named(place, {time, time})) return false;
  if (takes_time(time)) return true;
  const auto before = memory_before_.find({record.device_type, record.device_id});
  return before != memory_before_.end() && before->second == time;
}

bool RowSelection::takes_flow(const FlowEnd& end, std::string_view process) const {
  const bool is_launch = end.type == FlowEnd::Type::launch;
  if (is_launch && launched_.find(end.id) != IdMap::kNone) return true;
  const auto found = flows_.find(is_launch ? kNoProcess : process);
  return found != flows_.end() &&
         found->second[static_cast<std::size_t>(end.type)].find(end.id) == kBothEnds;
}

bool RowSelection::takes_other(std::optional<std::int64_t> time_ns,
                               std::optional<std::string_view> thread) const {
  if (!takes(SliceKind::other) || wanted_.accepts_name) return false;
  if (thread && !takes_thread(*thread)) return false;
  return takes_time(time_ns);
}

}  // namespace tbtrace::chrome
