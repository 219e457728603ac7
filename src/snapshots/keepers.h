// What keeps segments that are mostly free: the largest block in each, or a private pool.
// Results own their texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "snapshots/failure.h"
#include "snapshots/free_memory.h"
#include "snapshots/holders.h"
#include "snapshots/replay.h"

namespace tbtrace::snapshots {

/// The largest allocation in a range; nullptr if there is none.
const Allocation* keeper_of(const DeviceReplay& replay, const ReservedMemory& memory,
                            std::size_t range);

/// A line whose blocks take most of what is allocated in segments.
struct Keeper {
  std::string line;
  std::int64_t segments = 0;
  std::int64_t free_bytes = 0;  ///< in these segments
  std::int64_t bytes = 0;       ///< of the blocks
};

/// Those that keep most free memory first, of the ranges that `counts`. Ranges without free memory
/// or without a block do not count.
std::vector<Keeper> keepers_of(const DeviceReplay& replay, const ReservedMemory& memory,
                               Grouping& grouping,
                               const std::function<bool(const ReservedRange&)>& counts);

/// The first of those without which a failed allocation would have had more memory in one piece, or
/// the device more for it; nullopt unless memory was fragmented.
std::optional<Keeper> keeper_at(const DeviceReplay& replay, const Failure& failure,
                                Grouping& grouping);

/// A private pool: memory that CUDA graphs or a MemPool keep.
struct PrivatePool {
  std::uint32_t pool = 0;
  std::int64_t reserved_bytes = 0;
  std::int64_t free_bytes = 0;
  std::string line;  ///< that had most of it reserved; empty: unknown
};

/// The largest first.
std::vector<PrivatePool> private_pools(const ReservedMemory& memory, Origins& origins);

}  // namespace tbtrace::snapshots
