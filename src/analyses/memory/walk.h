// The walk through the memory records of a trace: curves of devices, and which record freed what
// another one allocated. All figures of memory are made from it.
// Owns what it found; refers to its Trace, which must outlive it. Immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include <tbtrace/memory.h>
#include <tbtrace/report.h>
#include <tbtrace/trace.h>

#include "analyses/steps/selection.h"
#include "base/bounded_sum.h"
#include "trace/track_keys.h"

namespace tbtrace::analyses {

/// A device of a process. A record's place is its index in the curve; records of allocations that
/// failed have none.
struct WalkedDevice {
  TrackKey process;
  DeviceType type = DeviceType::cpu;
  std::string name;  ///< `cuda:0`
  MemoryTotals totals = MemoryTotals::recorded;
  std::vector<MemoryPoint> curve;
  WideInteger before = 0;  ///< allocated when the recording began; 0 if no total is recorded
  std::optional<std::size_t> peak;  ///< place of the highest total; none without points
  std::uint64_t out_of_memory = 0;

  /// How many records there are until a time and at it.
  std::size_t records_until(std::int64_t time_ns) const;
};

struct WalkedAllocation {
  static constexpr std::size_t kNever = SIZE_MAX;

  std::size_t device = 0;
  std::int64_t bytes = 0;  ///< of the allocation; if it is from before, what was freed
  // Places in the curve of the device.
  std::size_t begin = kNever;  ///< kNever: before the recording
  std::size_t end = kNever;    ///< of the free, or of the next allocation of the same address
  // Records.
  std::size_t allocated_by = kNever;
  std::size_t freed_by = kNever;
  AllocationEnd how = AllocationEnd::held;

  bool is_from_before() const { return begin == kNever; }
  /// Whether it is known to be allocated after the record at a place. Without an address the end is
  /// unknown, and so is whether it was.
  bool is_alive(std::size_t place) const {
    const bool ends_unseen = how == AllocationEnd::unknown && end == kNever;
    return !is_from_before() && begin <= place && end > place && !ends_unseen;
  }
};

class MemoryWalk {
 public:
  /// `window`: the time of the chosen steps; peaks are in it, and failed allocations counted in it.
  MemoryWalk(const Trace& trace, const std::optional<TimeRange>& window);

  /// By process, type and index.
  const std::vector<WalkedDevice>& devices() const { return devices_; }
  /// By record: its device.
  const std::vector<std::size_t>& device_of() const { return device_of_; }
  /// In the order of the records that tell of them.
  const std::vector<WalkedAllocation>& allocations() const { return allocations_; }
  /// Records with a size but without an address.
  std::uint64_t without_address() const { return without_address_; }

  /// The points of the chosen time, with the last one before it.
  std::span<const MemoryPoint> chosen_points(const WalkedDevice& device) const;

  /// What was allocated before the recording and not freed until the peak, by device.
  std::vector<WideInteger> from_before_at_peak() const;

  /// Ends of a process's chosen steps, sorted.
  std::vector<std::int64_t> step_ends(const WalkedDevice& device,
                                      const std::optional<StepRange>& steps) const;

 private:
  void find_devices();
  void draw_curve(std::size_t number);
  void find_peak(WalkedDevice& device) const;
  void pair_records();
  void allocate(std::size_t device, std::size_t row, std::size_t place,
                std::optional<std::int64_t> address);
  void free(std::size_t device, std::size_t row, std::size_t place, std::int64_t address);

  const Trace& trace_;
  const std::optional<TimeRange> window_;
  std::vector<WalkedDevice> devices_;
  std::vector<std::size_t> device_of_;
  std::vector<std::vector<std::size_t>> records_of_;  // by device, by place
  std::vector<WalkedAllocation> allocations_;
  std::vector<std::unordered_map<std::int64_t, std::size_t>> open_;  // by device: of addresses
  std::uint64_t without_address_ = 0;
};

/// The median of the growth in each step, of which there is at least one; that of an even number
/// lies between the two in the middle.
std::int64_t median_growth(std::vector<WideInteger> growth);

}  // namespace tbtrace::analyses
