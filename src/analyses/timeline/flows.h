// Which ranges of a timeline belong together, from one to the other. Pure function.
#pragma once

#include <span>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/timeline/timeline.h"

namespace tbtrace::analyses {

/// From calls to the work that they launched, and from forward to backward operators; only kinds
/// that there are. `events`: those of the timeline, in its order.
std::vector<TimelineFlows> timeline_flows(const Trace& trace, const Timeline& timeline,
                                          std::span<const EventId> events);

}  // namespace tbtrace::analyses
