// What the allocator takes for a request: blocks by its setting roundup_power2_divisions, and
// segments. As c10's CUDACachingAllocator.cpp has it.
// Values. Pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace tbtrace::snapshots {

/// Requests up to this are served from segments of their own (kSmallSize).
inline constexpr std::int64_t kMostSmall = std::int64_t{1} << 20;
/// Of these segments (kSmallBuffer).
inline constexpr std::int64_t kSmallSegment = 2 * kMostSmall;

/// The segment that the device is asked for, as get_allocation_size().
std::int64_t segment_bytes(std::int64_t asked);

/// A size rounded up to 512 bytes, as all are.
std::int64_t least_block_bytes(std::int64_t requested);

class Rounding {
 public:
  /// Of the settings of a snapshot, by name.
  explicit Rounding(std::span<const std::pair<std::string, std::string>> settings);

  /// What a request takes, as round_size().
  std::int64_t block_bytes(std::int64_t requested) const;
  /// What the setting adds to it.
  std::int64_t added_bytes(std::int64_t requested) const {
    return block_bytes(requested) - least_block_bytes(requested);
  }

 private:
  static constexpr std::size_t kIntervals = 16;
  /// Of sizes below 2 MiB, below 4 MiB and so on; 0 or 1: no divisions.
  std::array<std::int64_t, kIntervals> divisions_ = {};
};

}  // namespace tbtrace::snapshots
