// Which ranges of a timeline belong together, from one to the other. Pure function.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/timeline/tracks.h"

namespace tbtrace::analyses {

/// From one range to another, by their numbers in the timeline.
struct TimelineFlow {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};

struct TimelineFlows {
  const char* kind = "";            ///< `launch`, `forward_backward`
  std::vector<TimelineFlow> flows;  ///< by `from`
};

/// From calls to the work that they launched, and from forward to backward operators; only kinds
/// that there are. `events`: those of the timeline, in its order.
std::vector<TimelineFlows> timeline_flows(const Trace& trace,
                                          const std::vector<TimelineTrack>& tracks,
                                          std::span<const EventId> events);

}  // namespace tbtrace::analyses
