#include "analyses/torch/backward.h"

#include <map>
#include <string_view>
#include <utility>

namespace tbtrace::analyses {
namespace {

constexpr std::string_view kPrefix = "autograd::engine::evaluate_function: ";

/// A backward node names the thread of its forward pass. Nodes without a sequence number do not;
/// they are recognised by the ranges that autograd runs around them.
bool is_backward_node(const TorchRows& list, const TorchRows::Row& row, const Trace& trace,
                      const TorchNames& names) {
  const EventId event = row.event();
  if (event == EventId::none || trace.kind(event) != EventKind::cpu_op) return false;
  const std::string_view name = names.text(row.name);
  if (name.starts_with(kPrefix)) return false;
  if (forward_thread(trace, event) > 0) return true;
  if (row.parent == TorchRows::kNone) return false;
  const std::string_view parent = names.text(list.rows[row.parent].name);
  return parent.starts_with(kPrefix) && parent.substr(kPrefix.size()) == name;
}

}  // namespace

void set_stacks(TorchRows& list, const Trace& trace, const TorchNames& names, TorchStacks& stacks,
                const ForwardThreads& threads) {
  const std::size_t size = list.rows.size();
  list.stack.resize(size, 0);
  Column<std::uint32_t> node;  // the nearest node at or above a row
  node.resize(size, TorchRows::kNone);
  std::map<std::pair<std::int64_t, TrackId>, StackId> forward;
  for (std::uint32_t number = 0; number < size; ++number) {
    const TorchRows::Row& row = list.rows[number];
    const EventId event = row.event();
    if (event != EventId::none) list.stack[number] = stacks.of(event);
    if (is_backward_node(list, row, trace, names)) {
      node[number] = number;
    } else if (row.parent != TorchRows::kNone) {
      node[number] = node[row.parent];
    }
    if (node[number] != TorchRows::kNone) continue;
    // The first forward event with a sequence number counts, even if its stack is empty.
    const std::int64_t sequence = event == EventId::none ? -1 : sequence_number(trace, event);
    forward.try_emplace({sequence, row.track}, list.stack[number]);
  }
  for (std::uint32_t number = 0; number < size; ++number) {
    if (node[number] == TorchRows::kNone) continue;
    list.stack[number] = 0;
    const EventId event = list.rows[node[number]].event();
    TrackId track = {};
    if (!threads.find(event, track)) continue;
    const auto found = forward.find({sequence_number(trace, event), track});
    if (found != forward.end()) list.stack[number] = found->second;
  }
}

}  // namespace tbtrace::analyses
