#include "analyses/flops/work_owners.h"

#include <span>

#include "analyses/attribution/forward_operators.h"
#include "trace/call_tree.h"
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

}  // namespace

WorkOwners::WorkOwners(const Trace& trace) {
  const OperatorCounts counts = operator_counts(trace);
  const CallTree& tree = call_tree_of(trace);
  const Phases phases(trace);
  owner_of_.resize(trace.events().size(), kNone);
  std::vector<bool> is_sealed(trace.events().size(), false);  // has what is inside, too
  std::size_t counted = 0;
  std::size_t unknown = 0;
  for (const EventId event : tree.ranges()) {
    const EventId parent = tree.parent(event);
    const bool is_inside = parent != EventId::none && is_sealed[index(parent)];
    WorkOwner owner;
    owner.op = event;
    owner.phase = phases.of(event);
    bool seals = is_inside;
    if (counted < counts.counted.size() && counts.counted[counted].op == event) {
      owner.work = counts.counted[counted++];
      owner.state = WorkState::counted;
      seals = seals || !owner.work.is_open;
    } else if (unknown < counts.unknown.size() && counts.unknown[unknown] == event) {
      ++unknown;
      owner.state = WorkState::unknown_sizes;
      seals = true;
    } else if (is_inside || trace.kind(event) != EventKind::cpu_op) {
      owner_of_[index(event)] = of(parent);
      is_sealed[index(event)] = is_inside;
      continue;
    }
    owner_of_[index(event)] = static_cast<std::uint32_t>(owners_.size());
    owners_.push_back(owner);
    is_sealed[index(event)] = seals;
  }
  find_callers(trace);
}

void WorkOwners::find_callers(const Trace& trace) {
  const CallTree& tree = call_tree_of(trace);
  std::vector<bool> has_counted(trace.events().size(), false);
  std::size_t next = owners_.size();
  const std::span<const EventId> ranges = tree.ranges();
  for (std::size_t at = ranges.size(); at-- > 0;) {
    const EventId event = ranges[at];
    bool counts = has_counted[index(event)];
    if (next > 0 && owners_[next - 1].op == event) {
      WorkOwner& owner = owners_[--next];
      if (counts && owner.state == WorkState::no_rule) owner.state = WorkState::inside;
      counts = counts || owner.state == WorkState::unknown_sizes ||
               (owner.state == WorkState::counted && !owner.work.is_open);
    }
    const EventId parent = tree.parent(event);
    if (counts && parent != EventId::none) has_counted[index(parent)] = true;
  }
}

}  // namespace tbtrace::analyses
