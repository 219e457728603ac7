#include "analyses/flops/work_owners.h"

#include <cstddef>
#include <span>
#include <string_view>

#include "analyses/attribution/forward_operators.h"
#include "analyses/attribution/owners.h"
#include "trace/call_tree.h"
#include "trace/links.h"
#include "trace/nearest_range.h"

namespace tbtrace::analyses {
namespace {

class Phases {
 public:
  explicit Phases(const Trace& trace)
      : numbers_(trace.argument(Argument::sequence_number)),
        nodes_(nearest_ranges(trace, [&](EventId event) { return is_backward(trace, event); })) {}

  /// Without gradients of gradients, an operator of a backward pass has no sequence number; one
  /// that has is a forward operator.
  WorkPhase of(EventId event) const {
    const EventId node = nodes_[index(event)];
    if (node == EventId::none) return WorkPhase::forward;
    return node != event && numbers_.has(event) ? WorkPhase::recomputed : WorkPhase::backward;
  }

 private:
  const ArgumentColumn& numbers_;
  Column<EventId> nodes_;
};

/// Nodes of autograd are callers; LibTorch's own, such as that of leaves, have its namespace.
bool is_node(const Trace& trace, EventId event) {
  return is_backward(trace, event) || accumulates_gradient(trace, event) ||
         trace.name(event).starts_with("torch::autograd::");
}

/// By event: whether what it computes is at operators inside it: one of them computes, or would if
/// its sizes were known; or all of them have rules, and one of them does more than move data, as in
/// a caller of random numbers. What only moves data does not tell what the operator around it
/// computes.
std::vector<bool> computing_ranges(const Trace& trace, const OperatorCounts& counts) {
  struct Inside {
    bool computes = false;
    bool has_rule = false;    // the operator itself
    bool has_others = false;  // operators inside it
    bool others_have_rules = true;
    bool does_more = false;  // it or one of them, than moving data
  };
  std::vector<Inside> inside(trace.events().size());
  for (const CountedOperator& op : counts.counted) {
    Inside& own = inside[index(op.op)];
    own.has_rule = true;
    own.computes = op.flops > 0;
    own.does_more = !op.is_open && !op.only_moves;
  }
  for (const EventId op : counts.unknown) {
    inside[index(op)] = {.computes = true, .has_rule = true, .does_more = true};
  }
  const CallTree& tree = call_tree_of(trace);
  const std::span<const EventId> ranges = tree.ranges();
  std::vector<bool> computes(trace.events().size(), false);
  for (std::size_t at = ranges.size(); at-- > 0;) {
    const Inside& own = inside[index(ranges[at])];
    const bool is_known =
        own.has_rule || (own.has_others && own.others_have_rules && own.does_more);
    computes[index(ranges[at])] = own.computes || (is_known && !own.has_rule);
    const EventId parent = tree.parent(ranges[at]);
    if (parent == EventId::none) continue;
    Inside& around = inside[index(parent)];
    around.computes = around.computes || own.computes;
    around.has_others = true;
    around.others_have_rules = around.others_have_rules && is_known;
    around.does_more = around.does_more || own.does_more;
  }
  return computes;
}

}  // namespace

WorkOwners::WorkOwners(const Trace& trace) {
  const OperatorCounts counts = operator_counts(trace);
  const CallTree& tree = call_tree_of(trace);
  const Phases phases(trace);
  const std::vector<bool> computes = computing_ranges(trace, counts);
  owner_of_.resize(trace.events().size(), kNone);
  enum class Sealed : std::uint8_t { no, by_counted, by_uncounted };
  std::vector<Sealed> sealed(trace.events().size(), Sealed::no);  // has what is inside, too
  std::size_t counted = 0;
  std::size_t unknown = 0;
  for (const EventId event : tree.ranges()) {
    const EventId parent = tree.parent(event);
    const Sealed around = parent == EventId::none ? Sealed::no : sealed[index(parent)];
    WorkOwner owner;
    owner.op = event;
    Sealed seals = around;
    const bool is_counted = counted < counts.counted.size() && counts.counted[counted].op == event;
    if (is_counted) owner.work = counts.counted[counted++];
    const bool is_unknown = unknown < counts.unknown.size() && counts.unknown[unknown] == event;
    if (is_unknown) ++unknown;
    if (is_counted && around != Sealed::by_uncounted) {
      owner.state = WorkState::counted;
      if (around == Sealed::no && !owner.work.is_open) seals = Sealed::by_counted;
    } else if (is_unknown && around != Sealed::by_uncounted) {
      owner.state = WorkState::unknown_sizes;
      seals = Sealed::by_counted;
    } else if (around != Sealed::no || trace.kind(event) != EventKind::cpu_op) {
      owner_of_[index(event)] = of(parent);
      sealed[index(event)] = around;
      continue;
    } else if (computes[index(event)] || is_node(trace, event)) {
      owner.state = WorkState::inside;
    } else if (is_operator_name(trace.name(event))) {
      seals = Sealed::by_uncounted;
    }
    owner.phase = phases.of(event);
    owner_of_[index(event)] = static_cast<std::uint32_t>(owners_.size());
    owners_.push_back(owner);
    sealed[index(event)] = seals;
  }
  find_callers_that_work(trace);
}

void WorkOwners::find_callers_that_work(const Trace& trace) {
  const CallTree& tree = call_tree_of(trace);
  for (const DeviceLink& link : links_of(trace).device_work()) {
    const std::uint32_t number = of(owner_of_work(tree, link));
    if (number == kNone || owners_[number].state != WorkState::inside) continue;
    owners_[number].state = WorkState::no_rule;
  }
}

}  // namespace tbtrace::analyses
