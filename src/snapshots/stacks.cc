// What a memory snapshot holds, by stack.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <tbtrace/memory_snapshot.h>

#include "report/table_list.h"
#include "snapshots/moments.h"
#include "snapshots/snapshot.h"

namespace tbtrace {
namespace {

using snapshots::DeviceReplay;
using snapshots::Origins;

/// Frames that pass a call on: of unwinding, of Python's interpreter and of torch's dispatcher.
constexpr std::array kInternals = std::to_array<std::string_view>(
    {"unwind::", "torch::unwind::", "torch::CapturedTraceback", "_Py", "PyObject_", "PyEval_",
     "PyVectorcall_", "PyCFunction_", "PyRun_", "Py_", "method_vectorcall", "cfunction_",
     "slot_tp_", "c10::impl::", "__libc_start", "_start"});

bool passes_on(std::string_view frame) {
  return std::ranges::any_of(kInternals,
                             [&](std::string_view start) { return frame.starts_with(start); });
}

StackTree::Node node_of(StackTree& tree, StackTree::Node root, Origins& origins,
                        std::span<const std::uint32_t> frames) {
  StackTree::Node node = root;
  for (std::size_t left = frames.size(); left > 0; --left) {
    const std::string text = origins.frame_text(frames[left - 1]);
    if (!passes_on(text)) node = tree.child(node, tree.frame_number(text));
  }
  return node;
}

}  // namespace

Result<StackTree> memory_snapshot_stacks(const MemorySnapshot& snapshot,
                                         const OptionValues& given) {
  const Result<OptionValues> options =
      snapshots::checked_options(analyses::memory_snapshot_table(), given);
  if (!options.ok()) return options.status();
  const snapshots::SnapshotData& data = snapshot.data().content;
  Origins origins(data);
  StackTree tree("bytes");
  for (const DeviceReplay& replay : snapshot.data().devices) {
    const auto chosen = snapshots::chosen_moment(replay, *options);
    if (!chosen) continue;
    StackTree::Node root = StackTree::kRoot;
    if (snapshot.data().devices.size() > 1) {
      root = tree.child(root, tree.frame_number("GPU " + std::to_string(replay.device())));
    }
    std::vector<StackTree::Node> nodes(data.stack_count(), StackTree::kRoot);
    const StackTree::Node before = tree.child(root, tree.frame_number(snapshots::kBefore));
    for (const snapshots::Allocation& allocation : replay.allocations()) {
      if (!DeviceReplay::is_alive(allocation, chosen->moment)) continue;
      const std::uint32_t stack = replay.stack(allocation);
      StackTree::Node& node = nodes[stack];
      if (stack == 0 && allocation.start == snapshots::kNone) {
        tree.add(before, replay.size(allocation));
        continue;
      }
      if (node == StackTree::kRoot) node = node_of(tree, root, origins, data.stack(stack));
      if (node == root) node = tree.child(root, tree.frame_number(snapshots::kUnattributed));
      tree.add(node, replay.size(allocation));
    }
  }
  return tree;
}

}  // namespace tbtrace
