// The list that prof.events() holds in torch, from a trace: same rows, order, tree and doubles.
// Owns its columns and texts; made from a Trace, which must outlive it. Immutable once made.
// See docs/parity.md for the rules; sources are torch/autograd/profiler.py
// (_parse_kineto_results) and profiler_util.py (EventList).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/torch_names.h"
#include "analyses/torch_stacks.h"
#include "analyses/torch_tree.h"
#include "base/column.h"

namespace tbtrace::analyses {

/// What to compute beyond names and times.
struct TorchEventOptions {
  bool shapes = false;
  bool stacks = false;
};

class TorchEvents {
 public:
  static constexpr std::uint32_t kNoParent = 0xffffffff;

  /// A kernel, copy or fill that an operator launched.
  struct Kernel {
    std::uint32_t row;  ///< of the operator
    EventId event;
    NameId name;
    double duration_us;
  };

  struct Memory {
    std::int64_t cpu_bytes = 0;
    std::int64_t device_bytes = 0;
  };

  TorchEvents(const Trace& trace, const TorchEventOptions& options);

  std::size_t size() const { return rows_.size(); }
  const Trace& trace() const { return *trace_; }
  std::string_view text(NameId id) const { return names_->text(id); }

  /// EventId::none for rows that stand for a memory record.
  EventId event(std::size_t row) const { return rows_[row].event; }
  NameId name(std::size_t row) const { return rows_[row].name; }
  NameId overload(std::size_t row) const;
  double start_us(std::size_t row) const { return rows_[row].start_us; }
  double end_us(std::size_t row) const { return rows_[row].end_us; }
  double elapsed_us(std::size_t row) const { return rows_[row].end_us - rows_[row].start_us; }
  TrackId track(std::size_t row) const { return rows_[row].track; }
  std::uint32_t parent(std::size_t row) const { return rows_[row].parent; }
  bool is_async(std::size_t row) const { return (rows_[row].flags & kAsync) != 0; }
  bool is_memory_row(std::size_t row) const { return rows_[row].event == EventId::none; }
  bool is_user_annotation(std::size_t row) const { return (rows_[row].flags & kAnnotation) != 0; }
  DeviceType device_type(std::size_t row) const { return rows_[row].device; }

  double cpu_time_us(std::size_t row) const;
  double self_cpu_time_us(std::size_t row) const;
  double device_time_us(std::size_t row) const { return device_.empty() ? 0 : device_[row].total; }
  double self_device_time_us(std::size_t row) const {
    return device_.empty() ? 0 : device_[row].self;
  }
  Memory memory(std::size_t row) const { return memory_.empty() ? Memory() : memory_[row]; }
  Memory self_memory(std::size_t row) const {
    return self_memory_.empty() ? Memory() : self_memory_[row];
  }

  /// Only with the option; shapes are empty where the file has none.
  std::string_view shapes(std::size_t row) const;
  StackId stack(std::size_t row) const { return stack_.empty() ? 0 : stack_[row]; }
  std::vector<NameId> frames(StackId stack, std::size_t count) const;

  /// Sorted by row.
  std::span<const Kernel> kernels() const { return kernels_.view(); }

  /// 0 if the recording did not ask for FLOPs; nothing for memory rows.
  std::optional<std::uint64_t> flops(std::size_t row) const;

  /// The kind of device that the recording used, as `use_device` of torch's profiler.
  std::optional<DeviceType> use_device() const { return trace_->device(); }

 private:
  friend class TorchEventsBuilder;

  static constexpr std::uint8_t kAsync = 1;
  static constexpr std::uint8_t kAnnotation = 2;
  static constexpr std::uint8_t kInTree = 4;    // of the CPU and not asynchronous
  static constexpr std::uint8_t kBackward = 8;  // a node of autograd's, or a candidate for one

  struct Row {
    double start_us;
    double end_us;
    EventId event;
    NameId name;
    TrackId track;
    std::uint32_t parent;
    std::uint8_t flags;
    DeviceType device;
  };
  struct DeviceTime {
    double total = 0;
    double self = 0;
  };

  const Trace* trace_;
  std::unique_ptr<TorchNames> names_;
  std::unique_ptr<TorchStacks> stacks_;
  Column<Row> rows_;
  Column<double> children_us_;
  Column<DeviceTime> device_;
  Column<Memory> memory_;
  Column<Memory> self_memory_;
  Column<Kernel> kernels_;
  Column<NameId> shapes_;
  Column<std::uint64_t> flops_;
  Column<StackId> stack_;
};

}  // namespace tbtrace::analyses
