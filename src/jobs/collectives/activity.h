// What a rank did when, in few parts.
// Results are plain values.
#pragma once

#include <span>
#include <vector>

#include <tbtrace/collectives.h>

#include "base/time_ranges.h"

namespace tbtrace::jobs {

/// `lengths`: by RankTime, the set of time of each, in the same time as the window. A part without
/// any counts as unknown.
std::vector<ActivityRun> activity_within(std::span<const RangeLengths> lengths, TimeRange window);

}  // namespace tbtrace::jobs
