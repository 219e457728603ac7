// Ranges of one thread that overlap without one being inside the other: viewers drop one of two,
// and the plugin drops operators. Finds those that have to move to a lane beside their thread, and
// those that only cross because times were rounded, which are shortened. Pure function of a trace.
// Results own what they hold.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <tbtrace/trace.h>

#include "dialects/roles.h"

namespace tbtrace::dialects {

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

/// `origin_ns` is what will be subtracted from all times. Readers take times for doubles of
/// microseconds: where the sum of start and duration is rounded past the end of the range around it
/// or past the start of the next one, a range of the host is shortened by 1 ns; work never is.
Crossings find_crossings(const Trace& trace, const Roles& roles, std::int64_t origin_ns);

}  // namespace tbtrace::dialects
