// What was allocated when, on one device: the entries of its trace one after the other, with the
// blocks that there are at the end. docs/formats/memory_snapshot.md has the rules.
// Refers to its data, which must outlive it. Immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "snapshots/allocator/sizes.h"
#include "snapshots/data.h"

namespace tbtrace::snapshots {

/// Places are numbers in the trace of the device, kNone if there is none.
struct Allocation {
  std::uint32_t start = kNone;      ///< kNone: before the recording
  std::uint32_t requested = kNone;  ///< where its free was asked for
  std::uint32_t freed = kNone;
  std::uint32_t block = kNone;  ///< of those at the end
};

/// A moment: so many entries of the trace are applied.
using Moment = std::uint32_t;

class DeviceReplay {
 public:
  DeviceReplay(const SnapshotData& data, std::int64_t device);

  const SnapshotData& data() const { return *data_; }
  std::int64_t device() const { return device_; }
  const Rounding& rounding() const { return rounding_; }
  const RowList& trace() const { return *trace_; }
  std::uint32_t row(std::uint32_t place) const { return (*trace_)[place]; }
  Moment end() const { return static_cast<Moment>(trace_->size()); }

  const std::vector<Allocation>& allocations() const { return allocations_; }
  static bool is_alive(const Allocation& allocation, Moment moment) {
    return (allocation.start == kNone || allocation.start < moment) &&
           (allocation.freed == kNone || allocation.freed >= moment);
  }
  /// Whether it only waits for another stream.
  bool is_pending(const Allocation& allocation, Moment moment) const;
  std::int64_t size(const Allocation& allocation) const;
  std::uint64_t address(const Allocation& allocation) const;
  std::uint32_t stack(const Allocation& allocation) const;
  std::uint32_t stream(const Allocation& allocation) const;
  /// The private or default pool; 0 if unknown.
  std::uint32_t pool(const Allocation& allocation) const;
  /// Of those at the end; nullptr if none has the address.
  const Segment* segment_at(std::uint64_t address) const;
  const std::vector<std::uint32_t>& segments() const { return segments_; }
  /// A row of entries of the allocation, kNone if it has none: the first that there is.
  std::uint32_t entry_row(const Allocation& allocation) const;

  /// What was allocated before the recording.
  std::int64_t before_bytes() const { return before_bytes_; }
  /// Whether the recording has all that was ever allocated: there was nothing before it.
  bool has_beginning() const;
  /// Whether anything says what was allocated: a file that is cut may end before its trace.
  bool knows_allocated() const { return !data_->is_cut || end() > 0; }
  /// The first moment at which the most was allocated, of those that are recorded.
  Moment peak() const { return peak_; }
  std::int64_t peak_bytes() const { return peak_bytes_; }
  /// After each entry.
  std::vector<std::int64_t> allocated_curve() const;
  /// The same of reserved bytes; empty if the file does not say what was reserved.
  std::vector<std::int64_t> reserved_curve() const;
  std::int64_t allocated_at(Moment moment) const;
  std::optional<std::int64_t> reserved_at(Moment moment) const;

  /// Places of failed allocations.
  const std::vector<std::uint32_t>& out_of_memory() const { return out_of_memory_; }

  // What does not fit together.

  /// Allocated by the trace, and not among the blocks at the end.
  std::int64_t missing_at_end_bytes() const { return missing_at_end_bytes_; }
  /// Allocations whose address was allocated again without a free between.
  std::uint64_t replaced() const { return replaced_; }
  /// Frees count from when they were asked for, because nothing says when they were done.
  bool frees_are_requests() const { return frees_are_requests_; }

 private:
  void find_segments();
  void replay();
  bool has_pending_blocks() const;
  void take_blocks();
  void find_peak();

  const SnapshotData* data_;
  std::int64_t device_;
  Rounding rounding_;
  const RowList* trace_;
  std::vector<Allocation> allocations_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> at_end_;  // address, allocation
  std::vector<std::uint32_t> segments_;                          // of this device, by address
  std::vector<std::uint32_t> out_of_memory_;
  std::int64_t before_bytes_ = 0;
  std::int64_t peak_bytes_ = 0;
  Moment peak_ = 0;
  std::int64_t missing_at_end_bytes_ = 0;
  std::uint64_t replaced_ = 0;
  bool frees_are_requests_ = false;
};

/// The devices with entries or segments.
std::vector<DeviceReplay> replays_of(const SnapshotData& data);

}  // namespace tbtrace::snapshots
