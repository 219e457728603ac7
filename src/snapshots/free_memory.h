// What the allocator held at a moment and did not use: the gaps in its segments.
// Results own their data.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "snapshots/replay.h"

namespace tbtrace::snapshots {

/// A range of addresses that was reserved, in one piece.
struct ReservedRange {
  std::uint64_t address = 0;
  std::int64_t size = 0;
  std::uint32_t stream = 0;
  std::uint32_t pool = 0;  ///< 0: unknown
  bool is_small = false;
  bool is_expandable = false;
  std::uint32_t stack = 0;  ///< that had it reserved; 0: unknown
};

struct Gap {
  std::int64_t size = 0;
  std::uint32_t range = 0;  ///< in ReservedMemory::ranges
};

struct ReservedMemory {
  std::vector<ReservedRange> ranges;  ///< by address
  std::vector<Gap> gaps;
  /// Of each range, by its number: what is allocated in it.
  std::vector<std::vector<std::uint32_t>> allocations;

  std::int64_t reserved_bytes() const;
  std::int64_t free_bytes() const;
};

/// nullopt if the file does not say what was reserved. Sizes of blocks are those of the blocks at
/// the end; of what is gone by then, the size rounded up as the allocator's settings have it.
std::optional<ReservedMemory> reserved_memory(const DeviceReplay& replay, Moment moment);

/// What the block of an allocation takes of its segment.
std::int64_t block_bytes(const DeviceReplay& replay, const Allocation& allocation);

}  // namespace tbtrace::snapshots
