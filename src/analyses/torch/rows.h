// The columns of an event list as torch holds it, during and after construction.
// Owned by one TorchEvents; the trace must outlive it. One writer, or any number of readers.
// The steps that fill it are in the torch_*.cc files beside this one.
#pragma once

#include <cstdint>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/torch/names.h"
#include "analyses/torch/stacks.h"
#include "base/bounded_sum.h"
#include "base/column.h"
#include "base/id_map.h"
#include "base/sparse_column.h"
#include "trace/trace_builder.h"

namespace tbtrace::analyses {

struct TorchRows {
  static constexpr std::uint32_t kNone = 0xffffffff;

  // Flags of a row.
  static constexpr std::uint8_t kAsync = 1;
  static constexpr std::uint8_t kAnnotation = 2;
  static constexpr std::uint8_t kInTree = 4;  ///< on the CPU and not asynchronous
  static constexpr std::uint8_t kOnCpu = 8;
  static constexpr std::uint8_t kMemory = 16;         ///< of a memory record, not of an event
  static constexpr std::uint8_t kOtherTimes = 32;     ///< than its event has: in `other_times`
  static constexpr std::uint8_t kRemoved = 64;        ///< merged into its parent
  static constexpr std::uint8_t kLosesKernels = 128;  ///< to the row that was merged into it

  struct Row {
    std::uint32_t number;  ///< of the event in the trace, or of the record in `leftovers`
    NameId name;
    std::uint32_t parent;
    TrackId track : TraceBuilder::kTrackBits;
    std::uint8_t flags : 8;

    bool has(std::uint8_t flag) const { return (flags & flag) != 0; }
    bool in_tree() const { return has(kInTree); }
    /// EventId::none: a memory record.
    EventId event() const { return has(kMemory) ? EventId::none : static_cast<EventId>(number); }
  };

  /// A kernel, memcpy or memset that an operator launched.
  struct Kernel {
    std::uint32_t row;  ///< of the operator
    EventId event;
    NameId name;
  };

  /// Unbounded sums; a displayed value is such a sum, clamped to 64 bits.
  struct Memory {
    WideInteger cpu_bytes = 0;
    WideInteger device_bytes = 0;

    Memory& operator+=(const Memory& other) {
      cpu_bytes += other.cpu_bytes;
      device_bytes += other.device_bytes;
      return *this;
    }
    bool operator==(const Memory&) const = default;
  };

  struct Time {
    double total_us = 0;
    double self_us = 0;
  };

  struct Times {
    std::int64_t start_ns;
    std::int64_t end_ns;
  };

  static_assert(sizeof(Row) == 16, "there is one for each event of the trace");

  explicit TorchRows(const Trace& its_trace)
      : trace(&its_trace),
        has_device(its_trace.device().has_value()),
        window_start_ns(its_trace.window_start_ns()) {}

  const Trace* trace;
  bool has_device;
  std::int64_t window_start_ns;
  Column<Row> rows;
  SparseColumn<double> children_us;  ///< sums over direct children

  // Empty if the recording has none, or if it was not requested.
  Column<Kernel> kernels;               ///< sorted by row
  SparseColumn<Time> device;            ///< of rows in the tree
  std::vector<MemoryRecord> leftovers;  ///< records inside no event; by time
  Column<NameId> shapes;
  Column<std::uint64_t> flops;
  Column<StackId> stack;

  DeviceType device_type(const Row& row) const {
    return row.has(kOnCpu) ? DeviceType::cpu : trace->category(row.event()).device;
  }

  // Times are computed from the trace, because most rows have those of their event.
  std::int64_t start_ns(const Row& row) const {
    return row.has(kMemory | kOtherTimes) ? other_times_of(row).start_ns
                                          : trace->events().start_ns(row.event());
  }
  std::int64_t end_ns(const Row& row) const {
    return row.has(kMemory | kOtherTimes) ? other_times_of(row).end_ns
                                          : trace->events().end_ns(row.event());
  }
  double start_us(const Row& row) const { return us(start_ns(row)); }
  double end_us(const Row& row) const { return us(end_ns(row)); }
  double elapsed_us(const Row& row) const { return end_us(row) - start_us(row); }
  double elapsed_us(const Kernel& kernel) const {
    return us(trace->events().end_ns(kernel.event)) - us(trace->events().start_ns(kernel.event));
  }

  /// torch's double for a time.
  double us(std::int64_t time_ns) const {
    return static_cast<double>(time_ns - window_start_ns) / 1000.0;
  }

  /// For an event whose row has other times than the event; sets the row's flag.
  void set_times(Row& row, Times times);

  /// Drops removed rows: their parents get their children. A kept row keeps its kernels, or gets
  /// those of the last row that was merged into it; all other kernels are dropped.
  void drop_removed();

 private:
  Times other_times_of(const Row& row) const;

  IdMap other_times_at_;  // by event
  Column<Times> other_times_;
};

}  // namespace tbtrace::analyses
