#include "analyses/torch_backward.h"

#include <map>
#include <string_view>
#include <utility>

namespace tbtrace::analyses {
namespace {

constexpr std::string_view kPrefix = "autograd::engine::evaluate_function: ";

const AutogradInfo* info_of(const Trace& trace, const TorchRows::Row& row) {
  return row.event == EventId::none ? nullptr : autograd_info(trace, row.event);
}

/// A node names the thread of its forward pass; those without a sequence number name none, and are
/// known by what autograd runs around them.
bool is_backward_node(const TorchRows& list, const TorchRows::Row& row, const Trace& trace,
                      const TorchNames& names) {
  if (row.event == EventId::none || trace.kind(row.event) != EventKind::cpu_op) return false;
  const std::string_view name = names.text(row.name);
  if (name.starts_with(kPrefix)) return false;
  const AutogradInfo* info = info_of(trace, row);
  if (info != nullptr && info->forward_thread > 0) return true;
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
    if (row.event != EventId::none) list.stack[number] = stacks.of(row.event);
    if (is_backward_node(list, row, trace, names)) {
      node[number] = number;
    } else if (row.parent != TorchRows::kNone) {
      node[number] = node[row.parent];
    }
    if (node[number] != TorchRows::kNone) continue;
    // The first forward event of a number counts, even if its stack is empty.
    const AutogradInfo* info = info_of(trace, row);
    forward.try_emplace({info == nullptr ? -1 : info->sequence_number, row.track},
                        list.stack[number]);
  }
  for (std::uint32_t number = 0; number < size; ++number) {
    if (node[number] == TorchRows::kNone) continue;
    list.stack[number] = 0;
    const AutogradInfo* info = info_of(trace, list.rows[node[number]]);
    TrackId track = {};
    if (info == nullptr || !threads.find(info->forward_thread, track)) continue;
    const auto found = forward.find({info->sequence_number, track});
    if (found != forward.end()) list.stack[number] = found->second;
  }
}

}  // namespace tbtrace::analyses
