#include "chrome/kineto/repairs.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <tuple>
#include <unordered_set>

#include "analyses/steps/inferred.h"
#include "base/column.h"
#include "base/id_map.h"
#include "trace/links.h"
#include "trace/nearest_range.h"
#include "trace/scoped_ids.h"
#include "trace/track_keys.h"

namespace tbtrace::chrome {
namespace {

constexpr std::int64_t kFirstLane = 1'000'000'000;  // far from ids that systems assign

template <typename Entry>
const Entry* entry_at(const std::vector<Entry>& sorted, EventId event) {
  const auto found = std::lower_bound(
      sorted.begin(), sorted.end(), event,
      [](const Entry& a, EventId wanted) { return index(a.event) < index(wanted); });
  return found != sorted.end() && found->event == event ? &*found : nullptr;
}

}  // namespace

/// Operators and annotations by their External ids.
class KinetoRepairs::OperatorIds {
 public:
  explicit OperatorIds(const Trace& trace)
      : trace_(trace), links_(links_of(trace)), first_(links_.scopes()) {
    for (const EventId event : trace.by_start()) {
      const std::int64_t id = trace.external_id(event);
      if (id == 0 || !names_operators(trace.kind(event))) continue;
      const std::uint32_t scope = links_.scope(trace, event);
      if (first_.insert(scope, id, static_cast<std::uint32_t>(event))) continue;
      shared_.insert(first_.find(scope, id));
    }
  }

  /// Whether an operator has the event's External id.
  bool is_named_by(EventId event) const {
    return first_.find(links_.scope(trace_, event), trace_.external_id(event)) != ScopedIds::kNone;
  }

  /// The operator's own id; 0 if it has none, or another operator has it too.
  std::int64_t unique(EventId op) const {
    if (op == EventId::none) return 0;
    const std::int64_t id = trace_.external_id(op);
    if (id == 0) return 0;
    const std::uint32_t first = first_.find(links_.scope(trace_, op), id);
    return first == static_cast<std::uint32_t>(op) && !shared_.contains(first) ? id : 0;
  }

 private:
  const Trace& trace_;
  const Links& links_;
  ScopedIds first_;
  std::unordered_set<std::uint32_t> shared_;  // the first operators with ids that others have too
};

namespace {

/// The flow events from launches to device work that the file has.
class LaunchFlows {
 public:
  explicit LaunchFlows(const Trace& trace) {
    for (const FlowEnd& end : trace.flows()) {
      if (end.type != FlowEnd::Type::launch) continue;
      (end.start ? starts_ : ends_).push_back({place_key(end.track, end.time_ns), end.id});
    }
    std::sort(starts_.begin(), starts_.end());
    std::sort(ends_.begin(), ends_.end());
  }

  bool starts_at(std::int64_t place, std::int64_t id) const { return has(starts_, place, id); }
  bool ends_at(std::int64_t place, std::int64_t id) const { return has(ends_, place, id); }

  /// Whatever the id.
  bool join(std::int64_t from, std::int64_t to) const {
    auto end = std::lower_bound(ends_.begin(), ends_.end(), Entry{to, INT64_MIN});
    for (; end != ends_.end() && end->first == to; ++end) {
      if (starts_at(from, end->second)) return true;
    }
    return false;
  }

 private:
  using Entry = std::pair<std::int64_t, std::int64_t>;  // place and id

  static bool has(const std::vector<Entry>& entries, std::int64_t place, std::int64_t id) {
    return std::binary_search(entries.begin(), entries.end(), Entry{place, id});
  }

  std::vector<Entry> starts_;
  std::vector<Entry> ends_;
};

}  // namespace

KinetoRepairs::KinetoRepairs(const Trace& trace, bool infer_steps)
    : trace_(trace),
      roles_(trace, Dialect::kineto),
      crossings_(find_exact_crossings(trace, roles_)) {
  place_lanes();
  repair_external_ids();
  add_flows();
  if (infer_steps) inferred_steps_ = analyses::inferred_annotation_steps(trace);
}

void KinetoRepairs::place_lanes() {
  if (crossings_.moved.empty()) return;
  std::set<std::int64_t> used;
  for (const Track& track : trace_.tracks()) used.insert(track.thread.number);
  std::int64_t next = kFirstLane;
  for (const Crossings::Move& move : crossings_.moved) {
    const EventKind kind = trace_.kind(move.event);
    if (kind == EventKind::cpu_op || kind == EventKind::runtime) {
      moved_by_place_.push_back(move.event);
    }
    const TrackId id = trace_.events().track(move.event);
    const auto [lane, added] = lanes_.try_emplace({index(id), move.lane}, 0);
    if (!added) continue;
    while (used.contains(next)) ++next;
    lane->second = next++;
    const Track& track = trace_.track(id);
    const std::string thread = key_text(trace_, track.thread);
    crossed_tracks_.try_emplace({key_text(trace_, track.process), thread}, id);
    const std::string name = track.thread_name != StringId::empty
                                 ? std::string(trace_.string(track.thread_name))
                                 : "thread " + thread;
    lane_names_.push_back(
        {track.process, lane->second, name + " (lane " + std::to_string(move.lane) + ")"});
  }
  const Events& events = trace_.events();
  std::sort(moved_by_place_.begin(), moved_by_place_.end(), [&](EventId a, EventId b) {
    return std::tuple(index(events.track(a)), events.start_ns(a), index(a)) <
           std::tuple(index(events.track(b)), events.start_ns(b), index(b));
  });
}

/// Some releases wrote correlations as External ids of launches and work, where they name any
/// operator. Those of operators stay: execution traces refer to them (`rf_id`).
void KinetoRepairs::repair_external_ids() {
  const Links& links = links_of(trace_);
  const bool are_valid = links.report().external_ids_valid;
  if (are_valid && crossings_.moved.empty()) return;
  const OperatorIds operators(trace_);
  if (are_valid) {
    name_operators_on_lanes(operators);
  } else {
    rename_operators(operators);
  }
  std::sort(external_ids_.begin(), external_ids_.end(),
            [](const NewId& a, const NewId& b) { return index(a.event) < index(b.event); });
  const auto same = [](const NewId& a, const NewId& b) { return a.event == b.event; };
  external_ids_.erase(std::unique(external_ids_.begin(), external_ids_.end(), same),
                      external_ids_.end());
}

/// Launches inside an operator belong to it without an id; if it moves to a lane, they need its.
void KinetoRepairs::name_operators_on_lanes(const OperatorIds& operators) {
  for (const DeviceLink& link : links_of(trace_).device_work()) {
    if (link.launch == EventId::none || link.op == EventId::none || !lane(link.op)) continue;
    if (operators.is_named_by(link.activity) || operators.is_named_by(link.launch)) continue;
    const std::int64_t id = operators.unique(link.op);
    if (id != 0) external_ids_.push_back({link.launch, id});
  }
}

void KinetoRepairs::rename_operators(const OperatorIds& operators) {
  const auto repair = [&](EventId event, EventId op) {
    const std::int64_t own = trace_.external_id(event);
    const bool is_on_lane = op != EventId::none && lane(op);
    if (own == 0 && !is_on_lane) return;
    const std::int64_t id = operators.unique(op);
    if (id == own || (id == 0 && !operators.is_named_by(event))) return;
    external_ids_.push_back({event, id});
  };
  Column<EventId> op_of_launch;
  op_of_launch.resize(trace_.events().size(), EventId::none);
  for (const DeviceLink& link : links_of(trace_).device_work()) {
    repair(link.activity, link.op);
    if (link.launch == EventId::none) continue;
    EventId& op = op_of_launch[index(link.launch)];
    if (op == EventId::none) op = link.op;
  }
  const Column<EventId> nearest = nearest_operators_or_annotations(trace_, call_tree_of(trace_));
  for (std::size_t row = 0; row < trace_.events().size(); ++row) {
    const auto event = static_cast<EventId>(row);
    if (trace_.kind(event) != EventKind::runtime) continue;
    EventId op = op_of_launch[row];
    if (op == EventId::none) op = nearest[row];
    repair(event, op);
  }
}

/// Readers look for a kernel from its launch by the flow event with the id of their correlation.
/// Not in files with several processes, in which the same correlation may belong to each.
void KinetoRepairs::add_flows() {
  const Links& links = links_of(trace_);
  if (links.device_work().empty() || links.scopes() > 1) return;
  const LaunchFlows flows(trace_);
  const Events& events = trace_.events();
  const auto place = [&](EventId event) {
    return place_key(events.track(event), events.start_ns(event));
  };
  IdMap started;  // launches that got a start
  for (const DeviceLink& link : links.device_work()) {
    if (link.launch == EventId::none) continue;
    const std::int64_t id = trace_.correlation(link.launch);
    if (id == 0 || id != trace_.correlation(link.activity)) continue;
    if (events.start_ns(link.launch) > events.start_ns(link.activity)) continue;
    const std::int64_t from = place(link.launch);
    const std::int64_t to = place(link.activity);
    if (flows.join(from, to)) continue;
    const auto launch = static_cast<std::int64_t>(index(link.launch));
    if (!flows.starts_at(from, id) && started.insert(launch, 0).second) {
      flows_.push_back({link.launch, id, true});
    }
    if (!flows.ends_at(to, id)) flows_.push_back({link.activity, id, false});
  }
  std::sort(flows_.begin(), flows_.end(),
            [](const Flow& a, const Flow& b) { return index(a.event) < index(b.event); });
}

std::optional<std::int64_t> KinetoRepairs::lane(EventId event) const {
  const Crossings::Move* const move = entry_at(crossings_.moved, event);
  if (move == nullptr) return std::nullopt;
  return lanes_.at({index(trace_.events().track(event)), move->lane});
}

std::optional<std::int64_t> KinetoRepairs::shorter_ns(EventId event) const {
  const Crossings::Shorter* const shorter = entry_at(crossings_.shortened, event);
  if (shorter == nullptr) return std::nullopt;
  return shorter->duration_ns;
}

std::optional<std::int64_t> KinetoRepairs::external_id(EventId event) const {
  const NewId* const id = entry_at(external_ids_, event);
  if (id == nullptr) return std::nullopt;
  return id->id;
}

std::optional<std::int64_t> KinetoRepairs::inferred_step(EventId event) const {
  const Step* const step = entry_at(inferred_steps_, event);
  if (step == nullptr) return std::nullopt;
  return step->number;
}

KinetoRepairs::NewCategory KinetoRepairs::category(EventId event) const {
  const std::string_view name = roles_.category(event);
  if (name == trace_.string(trace_.category(event).name)) return {};
  return {name, roles_.is_like_memory(event) ? "ranges_like_memory" : "categories_renamed"};
}

std::span<const KinetoRepairs::Flow> KinetoRepairs::missing_flows(EventId event) const {
  const Flow* const first = entry_at(flows_, event);
  if (first == nullptr) return {};
  const Flow* last = first;
  const Flow* const end = flows_.data() + flows_.size();
  while (last != end && last->event == event) ++last;
  return {first, last};
}

std::optional<std::int64_t> KinetoRepairs::lane_of_flow(std::string_view process,
                                                        std::string_view thread,
                                                        const FlowEnd& end) const {
  if (moved_by_place_.empty() || end.type == FlowEnd::Type::other) return std::nullopt;
  const auto track = crossed_tracks_.find({std::string(process), std::string(thread)});
  if (track == crossed_tracks_.end()) return std::nullopt;
  const Events& events = trace_.events();
  const std::pair place(index(track->second), end.time_ns);
  auto moved = std::lower_bound(moved_by_place_.begin(), moved_by_place_.end(), place,
                                [&](EventId event, const auto& wanted) {
                                  return std::pair(index(events.track(event)),
                                                   events.start_ns(event)) < wanted;
                                });
  const bool is_launch = end.type == FlowEnd::Type::launch;
  for (; moved != moved_by_place_.end(); ++moved) {
    if (std::pair(index(events.track(*moved)), events.start_ns(*moved)) != place) break;
    if ((trace_.kind(*moved) == EventKind::runtime) == is_launch) return lane(*moved);
  }
  return std::nullopt;
}

Changes KinetoRepairs::changes() const {
  Changes changes;
  const auto count = [&](const char* id, std::uint64_t number) {
    if (number != 0) changes[id] = number;
  };
  count("ranges_moved_to_lanes", crossings_.moved.size());
  count("ranges_shortened", crossings_.shortened.size());
  count("external_ids_repaired", external_ids_.size());
  count("flows_added", flows_.size());
  count("steps_inferred", inferred_steps_.size());
  return changes;
}

}  // namespace tbtrace::chrome
