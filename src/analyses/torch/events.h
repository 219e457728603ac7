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

#include <tbtrace/report.h>
#include <tbtrace/trace.h>

#include "analyses/torch/names.h"
#include "analyses/torch/rows.h"
#include "analyses/torch/stacks.h"

namespace tbtrace::analyses {

class TorchMemory;

struct TorchEventOptions {
  // What to compute beyond names and times.
  bool shapes = false;
  bool stacks = false;
  StackSource stack_source = StackSource::call_stack;

  int threads = 1;
};

class TorchEvents {
 public:
  using Kernel = TorchRows::Kernel;
  using Memory = TorchRows::Memory;

  static constexpr std::uint32_t kNoParent = TorchRows::kNone;

  TorchEvents(const Trace& trace, const TorchEventOptions& options);
  ~TorchEvents();

  std::size_t size() const { return list_.rows.size(); }
  const Trace& trace() const { return *list_.trace; }
  std::string_view text(NameId id) const { return names_->text(id); }

  /// EventId::none for a memory record's row.
  EventId event(std::size_t row) const { return list_.rows[row].event(); }
  bool is_memory_row(std::size_t row) const { return has(row, TorchRows::kMemory); }
  NameId name(std::size_t row) const { return list_.rows[row].name; }
  NameId overload(std::size_t row) const;
  double start_us(std::size_t row) const { return list_.start_us(list_.rows[row]); }
  double end_us(std::size_t row) const { return list_.end_us(list_.rows[row]); }
  std::uint32_t parent(std::size_t row) const { return list_.rows[row].parent; }
  bool is_python_function(std::size_t row) const {
    return !is_memory_row(row) && trace().events().is_python_frame(event(row));
  }
  bool is_async(std::size_t row) const { return has(row, TorchRows::kAsync); }
  bool is_user_annotation(std::size_t row) const { return has(row, TorchRows::kAnnotation); }
  DeviceType device_type(std::size_t row) const { return list_.device_type(list_.rows[row]); }

  double elapsed_us(std::size_t row) const { return list_.elapsed_us(list_.rows[row]); }
  using Time = TorchRows::Time;
  Time cpu_time(std::size_t row) const {
    if (!has(row, TorchRows::kOnCpu)) return {};
    const double total = elapsed_us(row);
    return {total, list_.rows[row].in_tree() ? total - list_.children_us.value(row) : 0};
  }
  Time device_time(std::size_t row) const {
    if (has(row, TorchRows::kOnCpu)) return list_.device.value(row);
    const double own = own_device_us(row);
    return {own, own};
  }
  double cpu_time_us(std::size_t row) const { return cpu_time(row).total_us; }
  double self_cpu_time_us(std::size_t row) const { return cpu_time(row).self_us; }
  double device_time_us(std::size_t row) const { return device_time(row).total_us; }
  double self_device_time_us(std::size_t row) const { return device_time(row).self_us; }

  /// Calls `visit(row, bytes)` for the rows with memory changes, in order.
  template <typename Visit>
  void for_each_memory(const Visit& visit) const {
    if (memory_ == nullptr) return;
    std::size_t near = 0;
    for (std::size_t row = 0; row < size(); ++row) {
      const Memory bytes = memory(row, near);
      if (bytes != Memory()) visit(row, bytes);
    }
  }
  /// The same for the parts of self memory that a row with a memory change has to do with: self
  /// memory is a row's change, minus the changes of its direct children.
  template <typename Visit>
  void for_each_part_of_self_memory(std::size_t number, const Memory& bytes,
                                    const Visit& visit) const {
    const TorchRows::Row& row = list_.rows[number];
    if (!row.in_tree()) return;
    visit(number, bytes);
    if (row.parent == kNoParent) return;
    visit(row.parent, Memory{-bytes.cpu_bytes, -bytes.device_bytes});
  }
  template <typename Visit>
  void for_each_part_of_self_memory(const Visit& visit) const {
    for_each_memory([&](std::size_t number, const Memory& bytes) {
      for_each_part_of_self_memory(number, bytes, visit);
    });
  }

  /// Only with the option; shapes are empty where the file has none.
  NameId shapes_name(std::size_t row) const { return list_.shapes.empty() ? 0 : list_.shapes[row]; }
  std::string_view shapes(std::size_t row) const { return text(shapes_name(row)); }
  StackId stack(std::size_t row) const { return list_.stack.empty() ? 0 : list_.stack[row]; }
  std::vector<NameId> frames(StackId stack, std::size_t count) const;

  /// Sorted by row.
  std::span<const Kernel> kernels() const { return list_.kernels.view(); }
  double elapsed_us(const Kernel& kernel) const { return list_.elapsed_us(kernel); }

  /// 0 if the recording did not ask for FLOPs; nullopt for memory rows.
  std::optional<std::uint64_t> flops(std::size_t row) const {
    if (is_memory_row(row)) return std::nullopt;
    return list_.flops.empty() ? 0 : list_.flops[row];
  }

 private:
  bool has(std::size_t row, std::uint8_t flag) const { return list_.rows[row].has(flag); }
  /// Of a row on a device.
  double own_device_us(std::size_t row) const {
    return has(row, TorchRows::kAsync) || !list_.has_device ? 0 : elapsed_us(row);
  }
  /// `near`: as in TorchMemory::within().
  Memory memory(std::size_t row, std::size_t& near) const;

  std::unique_ptr<TorchNames> names_;
  std::unique_ptr<TorchStacks> stacks_;
  std::unique_ptr<const TorchMemory> memory_;  // if there are records
  TorchRows list_;
};

}  // namespace tbtrace::analyses
