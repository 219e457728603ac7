// Memory over time in groups, and the blocks of a moment: what pictures show.
// Results own their data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "snapshots/free_memory.h"
#include "snapshots/holders.h"
#include "snapshots/replay.h"

namespace tbtrace::snapshots {

struct Band {
  std::optional<std::uint32_t> group;  ///< its number; nullopt: all others together
  std::vector<std::int64_t> bytes;     ///< at each of the moments
};

struct Bands {
  std::vector<Moment> moments;
  std::vector<Band> bands;  ///< the largest first, the others last
};

inline constexpr std::size_t kMostMoments = 500;
inline constexpr std::size_t kMostBands = 12;

/// Of equal numbers of entries the moment with the most bytes, and the first and the last moment.
/// At each, the bands add up to what was allocated. Those are shown that held most at the peak or
/// on average.
Bands bands_of(const DeviceReplay& replay, Grouping& grouping);

enum class PieceState : std::uint8_t { allocated, pending, free };

/// A block of a segment, or a gap in it.
struct Piece {
  std::uint32_t range = 0;  ///< in ReservedMemory::ranges
  std::int64_t offset = 0;
  std::int64_t size = 0;
  PieceState state = PieceState::free;
  std::uint32_t allocation = kNone;
};

/// By address.
std::vector<Piece> pieces_of(const DeviceReplay& replay, const ReservedMemory& memory,
                             Moment moment);

}  // namespace tbtrace::snapshots
