// Finds ranges of one thread that overlap without one being inside the other. Viewers drop one of
// the two, and the plugin drops operators. Some have to move to a lane beside their thread; others
// cross only because times were or will be rounded, and are shortened. Pure function of a trace.
// Results own their data.
// In Kineto's dialect, device rows stay on their streams, where they may overlap: readers take the
// thread id for the stream.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <tbtrace/trace.h>

#include "chrome/rows/roles.h"

namespace tbtrace::chrome {

struct Crossings {
  struct Move {
    EventId event = EventId::none;
    std::uint32_t lane = 0;  ///< of its track, from 1
  };
  struct Shorter {
    EventId event = EventId::none;
    std::int64_t duration_ns = 0;
  };

  std::vector<Move> moved;         ///< sorted by event
  std::vector<Shorter> shortened;  ///< sorted by event
};

/// `origin_ns` will be subtracted from all times. Afterwards no two ranges of a lane, or of what is
/// left of a thread, cross: neither in nanoseconds, nor for readers that hold times as doubles of
/// microseconds and add start and duration. If such a sum is past the end of the range around it or
/// past the start of the next one, the range ends earlier, by no more than the doubles require: 1
/// ns near 0, hundreds far from it. If the range around it would then end before its start, it has
/// no length. Kernels, memcpys and memsets keep their ends, and so do the ranges around them that
/// would cut them off; such sums can still cross. Applied to its own output with the same origin,
/// it finds nothing.
Crossings find_crossings(const Trace& trace, const Roles& roles, std::int64_t origin_ns);

/// The same for files whose times do not change: ranges nest afterwards in nanoseconds.
Crossings find_exact_crossings(const Trace& trace, const Roles& roles);

}  // namespace tbtrace::chrome
