#include "analyses/attribution/forward_operators.h"

#include <cstdint>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "analyses/attribution/forward_threads.h"
#include "base/id_map.h"
#include "trace/call_tree.h"
#include "trace/links.h"

namespace tbtrace::analyses {
namespace {

constexpr std::string_view kAroundNode = "autograd::engine::evaluate_function: ";
constexpr std::string_view kStruct = "struct ";
constexpr std::string_view kAccumulate = "torch::autograd::AccumulateGrad";

/// `AddmmBackward0`, `CheckpointFunctionBackward`.
bool names_node(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  return last != std::string_view::npos && name.substr(0, last + 1).ends_with("Backward");
}

/// The operators that created nodes, by their sequence numbers.
class Creators {
 public:
  explicit Creators(const Trace& trace)
      : trace_(trace),
        links_(links_of(trace)),
        of_thread_(trace.tracks().size()),
        of_process_(links_.scopes()) {}

  void add(EventId op, std::int64_t sequence) {
    const TrackId track = trace_.events().track(op);
    of_thread_[index(track)].replace(sequence, row_of(op));
    const std::uint32_t scope = links_.scope(track);
    if (scope >= of_process_.size()) return;
    const std::uint32_t before = of_process_[scope].replace(sequence, row_of(op));
    if (before == IdMap::kNone || trace_.events().track(EventId{before}) == track) return;
    shared_.insert({scope, sequence});
  }

  EventId of_thread(TrackId track, std::int64_t sequence) const {
    return event_of(of_thread_[index(track)].find(sequence));
  }

  /// EventId::none if several threads of the process have the number.
  EventId of_process(TrackId track, std::int64_t sequence) const {
    const std::uint32_t scope = links_.scope(track);
    if (scope >= of_process_.size() || shared_.contains({scope, sequence})) return EventId::none;
    return event_of(of_process_[scope].find(sequence));
  }

 private:
  static std::uint32_t row_of(EventId op) { return static_cast<std::uint32_t>(op); }
  static EventId event_of(std::uint32_t row) {
    return row == IdMap::kNone ? EventId::none : EventId{row};
  }

  const Trace& trace_;
  const Links& links_;
  std::vector<IdMap> of_thread_;   // by track
  std::vector<IdMap> of_process_;  // by scope; of several, the last
  std::set<std::pair<std::uint32_t, std::int64_t>> shared_;
};

}  // namespace

bool is_backward(const Trace& trace, EventId op) {
  if (trace.kind(op) != EventKind::cpu_op) return false;
  const std::string_view name = trace.name(op);
  return forward_thread(trace, op) > 0 || name.starts_with(kAroundNode) || names_node(name);
}

bool accumulates_gradient(const Trace& trace, EventId op) {
  if (trace.kind(op) != EventKind::cpu_op) return false;
  std::string_view name = trace.name(op);
  if (name.starts_with(kAroundNode)) name.remove_prefix(kAroundNode.size());
  if (name.starts_with(kStruct)) name.remove_prefix(kStruct.size());  // Windows, until 2022
  return name == kAccumulate;
}

ForwardOperators::ForwardOperators(const Trace& trace) {
  if (trace.argument(Argument::sequence_number).empty()) return;
  const CallTree& tree = call_tree_of(trace);
  Creators creators(trace);
  const ForwardThreads threads(trace);
  forward_.resize(trace.events().size(), EventId::none);
  Column<std::uint32_t> place;  // by event, in the order of the tree
  place.resize(trace.events().size(), 0);
  std::uint32_t next = 0;
  for (const EventId op : tree.ranges()) {
    place[index(op)] = next++;
    const std::int64_t sequence = sequence_number(trace, op);
    if (sequence < 0 || trace.kind(op) != EventKind::cpu_op) continue;
    if (!is_backward(trace, op)) {
      creators.add(op, sequence);
      continue;
    }
    TrackId track = {};
    forward_[index(op)] = threads.find(op, track)
                              ? creators.of_thread(track, sequence)
                              : creators.of_process(trace.events().track(op), sequence);
    // Autograd's range around a node has no number of its own in some versions.
    const EventId parent = tree.parent(op);
    const EventId forward = forward_[index(op)];
    const bool is_around = parent != EventId::none && forward != EventId::none &&
                           forward_[index(parent)] == EventId::none &&
                           trace.name(parent).starts_with(kAroundNode);
    if (is_around && place[index(forward)] < place[index(parent)]) {
      forward_[index(parent)] = forward;
    }
  }
}

}  // namespace tbtrace::analyses
