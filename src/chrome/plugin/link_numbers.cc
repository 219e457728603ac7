#include "chrome/plugin/link_numbers.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <string_view>
#include <unordered_map>

#include "base/id_set.h"
#include "trace/call_tree.h"
#include "trace/links.h"
#include "trace/nearest_range.h"
#include "trace/scoped_ids.h"

namespace tbtrace::chrome {
namespace {

constexpr std::int64_t kLargestKept = std::numeric_limits<std::uint32_t>::max() - 1;

/// The range of ids that came to note(), except 0, which means none.
struct IdRange {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t most = std::numeric_limits<std::int64_t>::min();
  std::size_t count = 0;

  void note(std::int64_t id) {
    if (id == 0) return;
    least = std::min(least, id);
    most = std::max(most, id);
    ++count;
  }
  IdSet set() const { return {least, most, count}; }
};

/// The plugin's own dialect, that of 2020 and 2021: such a trace is shown as it was before.
bool is_plugins_own(const Trace& trace) {
  constexpr std::array<std::string_view, 4> kOwn = {"Runtime", "Kernel", "Memcpy", "Memset"};
  return std::any_of(trace.categories().begin(), trace.categories().end(),
                     [&](const Category& category) {
                       const std::string_view name = trace.string(category.name);
                       return std::find(kOwn.begin(), kOwn.end(), name) != kOwn.end();
                     });
}

}  // namespace

LinkNumbers::LinkNumbers(const Trace& trace, const Roles& roles) : trace_(trace), roles_(roles) {
  external_id_.resize(trace.events().size(), 0);
  correlation_.resize(trace.events().size(), 0);
  external_ids_kept_ = keeps_external_ids();
  correlations_kept_ = keeps_correlations();
  measure_depth();
  number_operators();
  find_takers();
  join_collectives();
  find_owners();
  takers_.release();
  collectives_.release();
  number_launches();
}

bool LinkNumbers::is_listed_collective(EventId event) const {
  return std::binary_search(listed_collectives_.begin(), listed_collectives_.end(), event);
}

void LinkNumbers::measure_depth() {
  depth_.resize(trace_.events().size(), 0);
  const CallTree& tree = call_tree_of(trace_);
  for (const EventId event : tree.ranges()) {
    const EventId parent = tree.parent(event);
    const std::uint16_t around = parent == EventId::none ? std::uint16_t{0} : depth_[index(parent)];
    const bool deeper = is_node(roles_.role(event)) && around <= kDeepestNode;
    depth_[index(event)] = static_cast<std::uint16_t>(around + (deeper ? 1 : 0));
    if (is_node(roles_.role(event)) && too_deep(event)) ++too_deep_;
  }
}

/// The innermost enclosing node that may take launches.
void LinkNumbers::find_takers() {
  takers_ = nearest_ranges(trace_, [&](EventId event) {
    const Role role = roles_.role(event);
    return is_node(role) && role != Role::module && !too_deep(event) &&
           names_operators(trace_.kind(event));
  });
}

/// Every operator and annotation gets its own id. New ids begin after the correlations: if the ids
/// of most launches equal their correlations, readers use neither.
void LinkNumbers::number_operators() {
  std::int64_t next = 1;
  for (std::size_t row = 0; row < external_id_.size(); ++row) {
    const auto event = static_cast<EventId>(row);
    if (external_ids_kept_ && names_operators(trace_.kind(event))) {
      next = std::max(next, trace_.external_id(event) + 1);
    } else if (!external_ids_kept_ && correlations_kept_) {
      next = std::max(next, trace_.correlation(event) + 1);
    }
  }
  for (std::size_t row = 0; row < external_id_.size(); ++row) {
    const auto event = static_cast<EventId>(row);
    if (!names_operators(trace_.kind(event))) continue;
    const std::int64_t own = external_ids_kept_ ? trace_.external_id(event) : 0;
    // There are fewer ranges than 32-bit numbers.
    external_id_[row] = static_cast<std::uint32_t>(own > 0 ? own : next++);
  }
}

bool LinkNumbers::keeps_external_ids() const {
  if (!trace_.links().external_ids_valid) return false;
  const auto rows = static_cast<std::int64_t>(external_id_.size());
  IdRange range;
  for (std::size_t row = 0; row < external_id_.size(); ++row) {
    const auto event = static_cast<EventId>(row);
    if (names_operators(trace_.kind(event))) range.note(trace_.external_id(event));
  }
  if (range.count == 0) return true;
  if (range.least < 0 || range.most > kLargestKept - rows) return false;
  IdSet seen = range.set();
  for (std::size_t row = 0; row < external_id_.size(); ++row) {
    const auto event = static_cast<EventId>(row);
    if (!names_operators(trace_.kind(event))) continue;
    const std::int64_t id = trace_.external_id(event);
    if (id != 0 && !seen.insert(id)) return false;
  }
  return true;
}

/// The plugin counts a kernel as communication if it has the id of the collective's row. If an
/// operator contains only that row and no other launches, both get the operator's id: the plugin
/// assigns the time to the operator, which it finds first, as torch does.
void LinkNumbers::join_collectives() {
  const CallTree& tree = call_tree_of(trace_);
  struct Holder {
    EventId collective = EventId::none;
    bool alone = true;
  };
  std::unordered_map<std::uint32_t, Holder> holders;
  std::vector<EventId> collectives;
  for (const EventId event : tree.ranges()) {
    if (roles_.role(event) == Role::collective) collectives.push_back(event);
  }
  if (collectives.empty()) return;
  const Column<EventId> operators =
      nearest_ranges(trace_, [&](EventId event) { return roles_.role(event) == Role::op; });
  const auto holder_of = [&](EventId event) { return entry_of(operators, tree.parent(event)); };
  for (const EventId event : collectives) {
    const EventId op = holder_of(event);
    if (op == EventId::none) continue;
    const auto [found, added] = holders.try_emplace(static_cast<std::uint32_t>(op));
    found->second.alone = added && trace_.events().start_ns(op) < trace_.events().start_ns(event);
    found->second.collective = event;
  }
  collectives_ = nearest_ranges(trace_, [&](EventId event) {
    return roles_.role(event) == Role::collective || roles_.role(event) == Role::op;
  });
  for (const DeviceLink& link : links_of(trace_).device_work()) {
    if (link.launch == EventId::none) continue;
    const EventId around = entry_of(collectives_, tree.parent(link.launch));
    if (around == EventId::none || roles_.role(around) == Role::collective) continue;
    const auto found = holders.find(static_cast<std::uint32_t>(around));
    if (found != holders.end()) found->second.alone = false;
  }
  std::sort(collectives.begin(), collectives.end());
  for (const EventId event : collectives) {
    const EventId op = holder_of(event);
    if (op == EventId::none) continue;
    const Holder& holder = holders.at(static_cast<std::uint32_t>(op));
    if (holder.alone && holder.collective == event && !too_deep(op)) {
      external_id_[index(event)] = external_id_[index(op)];
    } else {
      listed_collectives_.push_back(event);
    }
  }
}

EventId LinkNumbers::owner(EventId launch, EventId op) const {
  const CallTree& tree = call_tree_of(trace_);
  if (launch == EventId::none) return entry_of(takers_, op);
  const EventId around = entry_of(collectives_, tree.parent(launch));
  const bool in_collective = around != EventId::none && around != op &&
                             roles_.role(around) == Role::collective && !too_deep(around);
  if (in_collective) return around;
  return entry_of(takers_, op != EventId::none ? op : tree.parent(launch));
}

/// The plugin merges an operator with its only child of the same name, and then forgets the
/// launches of the outer one. Therefore they are assigned to the child.
Column<EventId> LinkNumbers::merged_children() const {
  Column<EventId> only_child;
  const CallTree& tree = call_tree_of(trace_);
  only_child.resize(external_id_.size(), EventId::none);
  const Column<EventId> nodes =
      nearest_ranges(trace_, [&](EventId event) { return is_node(roles_.role(event)); });
  for (const EventId event : tree.ranges()) {
    if (!is_node(roles_.role(event)) || too_deep(event)) continue;
    const EventId parent = entry_of(nodes, tree.parent(event));
    if (parent == EventId::none) continue;
    EventId& child = only_child[index(parent)];
    child = child == EventId::none ? event : parent;  // itself means: several children
  }
  // In written form: a collective may be written as an operator with another name.
  const auto is_plain_op = [&](EventId event) {
    return (trace_.kind(event) == EventKind::cpu_op && roles_.role(event) == Role::op) ||
           is_listed_collective(event);
  };
  const auto same_name = [&](EventId outer, EventId inner) {
    if (trace_.events().name(outer) == trace_.events().name(inner)) return true;
    return roles_.role(outer) == Role::collective && roles_.role(inner) == Role::collective &&
           known_collective(trace_.name(outer)) == known_collective(trace_.name(inner));
  };
  for (const EventId event : tree.ranges()) {
    EventId& child = only_child[index(event)];
    if (child == EventId::none) continue;
    const bool same =
        child != event && is_plain_op(event) && is_plain_op(child) && same_name(event, child);
    if (!same) child = EventId::none;
  }
  // In a chain of merged nodes, take the last one.
  for (std::size_t row = tree.ranges().size(); row-- > 0;) {
    EventId& child = only_child[index(tree.ranges()[row])];
    const EventId last = entry_of(only_child, child);
    if (last != EventId::none) child = last;
  }
  return only_child;
}

void LinkNumbers::find_owners() {
  const CallTree& tree = call_tree_of(trace_);
  const Links& links = links_of(trace_);
  ScopedIds named(links.scopes());
  const bool valid = links.report().external_ids_valid;
  if (valid) {
    for (const EventId event : trace_.by_start()) {
      const std::int64_t id = trace_.external_id(event);
      if (id != 0 && names_operators(trace_.kind(event))) {
        named.insert(links.scope(trace_, event), id, static_cast<std::uint32_t>(event));
      }
    }
  }
  const auto named_by = [&](EventId event) {
    const std::int64_t id = valid ? trace_.external_id(event) : 0;
    return id == 0 ? EventId::none
                   : static_cast<EventId>(named.find(links.scope(trace_, event), id));
  };
  const auto number_of = [&](EventId node) {
    return node == EventId::none ? 0 : external_id_[index(node)];
  };

  const Column<EventId> merged = merged_children();
  const auto innermost = [&](EventId node) {
    const EventId inner = entry_of(merged, node);
    return inner != EventId::none ? inner : node;
  };

  // A launch belongs to the operator of its first work in the model.
  const bool may_add_launches = !is_plugins_own(trace_);
  Column<bool> settled;
  settled.resize(external_id_.size(), false);
  for (const DeviceLink& link : links.device_work()) {
    if (link.launch != EventId::none && !settled[index(link.launch)]) {
      settled[index(link.launch)] = true;
      external_id_[index(link.launch)] = number_of(innermost(owner(link.launch, link.op)));
    }
    if (link.launch != EventId::none) {
      external_id_[index(link.activity)] = external_id_[index(link.launch)];
      continue;
    }
    const EventId node = innermost(owner(EventId::none, link.op));
    external_id_[index(link.activity)] = number_of(node);
    if (node != EventId::none && may_add_launches) missing_.push_back({link.activity, node});
  }
  std::sort(missing_.begin(), missing_.end(),
            [](const Missing& a, const Missing& b) { return index(a.work) < index(b.work); });
  const Column<EventId> around = nearest_operators_or_annotations(trace_, tree);
  for (std::size_t row = 0; row < external_id_.size(); ++row) {
    const auto event = static_cast<EventId>(row);
    const EventKind kind = trace_.kind(event);
    if (settled[row] || is_device_work(kind) || names_operators(kind)) continue;
    if (kind == EventKind::runtime) {
      EventId op = named_by(event);
      if (op == EventId::none) op = entry_of(around, tree.parent(event));
      external_id_[row] = number_of(innermost(owner(event, op)));
    } else if (kind == EventKind::gpu_user_annotation) {
      external_id_[row] = number_of(named_by(event));
    }
  }
}

void LinkNumbers::number_launches() {
  std::int64_t next = 1;
  for (std::size_t row = 0; row < correlation_.size(); ++row) {
    next = std::max(next, std::int64_t{external_id_[row]} + 1);
    if (correlations_kept_) {
      next = std::max(next, trace_.correlation(static_cast<EventId>(row)) + 1);
    }
  }
  const auto number = [&](EventId event) {
    const std::int64_t own = correlations_kept_ ? trace_.correlation(event) : 0;
    return static_cast<std::uint32_t>(own > 0 ? own : next++);
  };
  const Links& links = links_of(trace_);
  const auto takes_launch = [&](EventId event) {
    return trace_.kind(event) == EventKind::device_other && trace_.correlation(event) != 0;
  };
  bool any_takes_launch = false;
  for (std::size_t row = 0; row < correlation_.size(); ++row) {
    const auto event = static_cast<EventId>(row);
    any_takes_launch = any_takes_launch || takes_launch(event);
    if (trace_.kind(event) == EventKind::runtime) correlation_[row] = number(event);
  }
  for (const DeviceLink& link : links.device_work()) {
    correlation_[index(link.activity)] =
        link.launch != EventId::none ? correlation_[index(link.launch)] : number(link.activity);
  }
  if (!any_takes_launch) return;
  ScopedIds of_file(links.scopes());  // by process and correlation: row of the launch
  for (std::size_t row = 0; row < correlation_.size(); ++row) {
    const auto event = static_cast<EventId>(row);
    if (trace_.kind(event) != EventKind::runtime || trace_.correlation(event) == 0) continue;
    of_file.insert(links.scope(trace_, event), trace_.correlation(event),
                   static_cast<std::uint32_t>(row));
  }
  for (std::size_t row = 0; row < correlation_.size(); ++row) {
    const auto event = static_cast<EventId>(row);
    if (!takes_launch(event)) continue;
    const std::uint32_t launch =
        of_file.find(links.scope(trace_, event), trace_.correlation(event));
    if (launch != ScopedIds::kNone) correlation_[row] = correlation_[launch];
  }
}

bool LinkNumbers::keeps_correlations() const {
  const auto rows = static_cast<std::int64_t>(correlation_.size());
  IdRange range;
  for (std::size_t row = 0; row < correlation_.size(); ++row) {
    range.note(trace_.correlation(static_cast<EventId>(row)));
  }
  if (range.count > 0 && (range.least < 0 || range.most > kLargestKept - rows)) return false;
  IdSet seen = range.set();
  for (std::size_t row = 0; row < correlation_.size(); ++row) {
    const auto event = static_cast<EventId>(row);
    if (trace_.kind(event) != EventKind::runtime) continue;
    const std::int64_t id = trace_.correlation(event);
    if (id != 0 && !seen.insert(id)) return false;
  }
  IdSet orphans = range.set();
  for (const DeviceLink& link : links_of(trace_).device_work()) {
    const std::int64_t id = trace_.correlation(link.activity);
    if (link.launch != EventId::none) {
      if (id != trace_.correlation(link.launch)) return false;
    } else if (id != 0 && !orphans.insert(id)) {
      return false;
    }
  }
  return true;
}

}  // namespace tbtrace::chrome
