// The columns of an event list as torch holds it, during and after construction.
// Plain data, owned by one TorchEvents. One writer, or any number of readers.
// The steps that fill it are in the torch_*.cc files beside this one.
#pragma once

#include <cstdint>
#include <span>

#include <tbtrace/trace.h>

#include "analyses/torch_names.h"
#include "analyses/torch_stacks.h"
#include "base/bounded_sum.h"
#include "base/column.h"
#include "trace/trace_builder.h"

namespace tbtrace::analyses {

struct TorchRows {
  static constexpr std::uint32_t kNone = 0xffffffff;

  // Flags of a row.
  static constexpr std::uint8_t kAsync = 1;
  static constexpr std::uint8_t kAnnotation = 2;
  static constexpr std::uint8_t kInTree = 4;  ///< on the CPU and not asynchronous

  struct Row {
    double start_us;
    double end_us;
    EventId event;  ///< EventId::none: a memory record
    NameId name;
    std::uint32_t parent;
    TrackId track : TraceBuilder::kTrackBits;
    std::uint8_t flags : 3;
    std::uint8_t device_number : 5;  // of a category, so a device with a name

    bool in_tree() const { return (flags & kInTree) != 0; }
    DeviceType device() const { return static_cast<DeviceType>(device_number); }
    double elapsed_us() const { return end_us - start_us; }
  };

  /// A kernel, memcpy or memset that an operator launched.
  struct Kernel {
    std::uint32_t row;  ///< of the operator
    EventId event;
    NameId name;
    double duration_us;
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

  struct RowMemory {
    std::uint32_t row;
    Memory bytes;
  };

  struct DeviceTime {
    double total_us = 0;
    double self_us = 0;
  };

  static_assert(sizeof(Row) == 32, "there is one for each event of the trace");

  Column<Row> rows;
  Column<double> children_us;  ///< sums over direct children

  // Empty if the recording has none, or if it was not requested.
  Column<RowMemory> memory;  ///< sorted by row; rows without changes are left out
  Column<Kernel> kernels;    ///< sorted by row
  Column<DeviceTime> device;
  Column<NameId> shapes;
  Column<std::uint64_t> flops;
  Column<StackId> stack;

  /// Keeps the rows in `kept` (ascending), with their memory. Afterwards a kept row has the kernels
  /// of row `kernels_of[row]`; all other kernels are dropped.
  void keep(std::span<const std::uint32_t> kept, std::span<const std::uint32_t> kernels_of);
};

}  // namespace tbtrace::analyses
