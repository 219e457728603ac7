// The list that prof.events() holds in torch, from a trace: same rows, order, tree and doubles.
// Owns its columns and texts; made from a Trace, which must outlive it. Immutable once made.
// See docs/parity.md for the rules; sources: torch/autograd/profiler.py (_parse_kineto_results) and
// profiler_util.py (EventList).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/torch_names.h"
#include "analyses/torch_rows.h"
#include "analyses/torch_stacks.h"

namespace tbtrace::analyses {

/// What to compute beyond names and times.
struct TorchEventOptions {
  bool shapes = false;
  bool stacks = false;
};

class TorchEvents {
 public:
  using Kernel = TorchRows::Kernel;
  using Memory = TorchRows::Memory;
  using RowMemory = TorchRows::RowMemory;

  static constexpr std::uint32_t kNoParent = TorchRows::kNone;

  TorchEvents(const Trace& trace, const TorchEventOptions& options);

  std::size_t size() const { return list_.rows.size(); }
  const Trace& trace() const { return *trace_; }
  std::string_view text(NameId id) const { return names_->text(id); }

  /// EventId::none for a memory record's row.
  EventId event(std::size_t row) const { return list_.rows[row].event; }
  bool is_memory_row(std::size_t row) const { return event(row) == EventId::none; }
  NameId name(std::size_t row) const { return list_.rows[row].name; }
  NameId overload(std::size_t row) const;
  double start_us(std::size_t row) const { return list_.rows[row].start_us; }
  double end_us(std::size_t row) const { return list_.rows[row].end_us; }
  std::uint32_t parent(std::size_t row) const { return list_.rows[row].parent; }
  bool is_async(std::size_t row) const { return has(row, TorchRows::kAsync); }
  bool is_user_annotation(std::size_t row) const { return has(row, TorchRows::kAnnotation); }
  DeviceType device_type(std::size_t row) const { return list_.rows[row].device(); }

  double cpu_time_us(std::size_t row) const {
    return device_type(row) == DeviceType::cpu ? list_.rows[row].elapsed_us() : 0;
  }
  double self_cpu_time_us(std::size_t row) const {
    return list_.rows[row].in_tree() ? list_.rows[row].elapsed_us() - list_.children_us[row] : 0;
  }
  double device_time_us(std::size_t row) const {
    return list_.device.empty() ? 0 : list_.device[row].total_us;
  }
  double self_device_time_us(std::size_t row) const {
    return list_.device.empty() ? 0 : list_.device[row].self_us;
  }
  /// Sorted by row; rows without memory changes are left out.
  std::span<const RowMemory> memory() const { return list_.memory.view(); }
  /// Calls `visit(row, bytes)` for all parts of the rows' self memory: a row's change, minus the
  /// changes of its direct children.
  template <typename Visit>
  void for_each_part_of_self_memory(const Visit& visit) const {
    for (const RowMemory& entry : list_.memory) {
      const TorchRows::Row& row = list_.rows[entry.row];
      if (!row.in_tree()) continue;
      visit(entry.row, entry.bytes);
      if (row.parent == kNoParent) continue;
      visit(row.parent, Memory{-entry.bytes.cpu_bytes, -entry.bytes.device_bytes});
    }
  }

  /// Only with the option; shapes are empty where the file has none.
  std::string_view shapes(std::size_t row) const {
    return list_.shapes.empty() ? std::string_view() : text(list_.shapes[row]);
  }
  StackId stack(std::size_t row) const { return list_.stack.empty() ? 0 : list_.stack[row]; }
  std::vector<NameId> frames(StackId stack, std::size_t count) const;

  /// Sorted by row.
  std::span<const Kernel> kernels() const { return list_.kernels.view(); }

  /// 0 if the recording did not ask for FLOPs; nullopt for memory rows.
  std::optional<std::uint64_t> flops(std::size_t row) const;

 private:
  bool has(std::size_t row, std::uint8_t flag) const { return (list_.rows[row].flags & flag) != 0; }

  const Trace* trace_;
  std::unique_ptr<TorchNames> names_;
  std::unique_ptr<TorchStacks> stacks_;
  TorchRows list_;
};

}  // namespace tbtrace::analyses
