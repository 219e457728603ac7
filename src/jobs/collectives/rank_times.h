// What each instant of a rank's recording counts as (RankTime).
// Results are plain values.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <tbtrace/collectives.h>
#include <tbtrace/trace.h>

#include "base/time_ranges.h"

namespace tbtrace::jobs {

/// By RankTime: sets of time that do not overlap, in the trace's own time. Together they are the
/// time from the first activity to the last one, of the device, or without a device of the host.
using RankTimes = std::array<std::vector<TimeRange>, kRankTimes>;

/// When the host ran no operator and no call.
std::vector<TimeRange> silent_times(const Trace& trace, std::vector<TimeRange> of);

/// When the rank computed, whatever else it did.
std::vector<TimeRange> computing_times(const Trace& trace,
                                       const std::vector<bool>& is_communication);

/// `is_communication`: by EventId, kernels and ranges that are parts of collectives. `computing`:
/// what computing_times() returns for them. If the first activity begins after `start_ns`, so does
/// the time before it count, which was launched too late for it.
RankTimes rank_times(const Trace& trace, const std::vector<bool>& is_communication,
                     const std::vector<TimeRange>& computing, std::int64_t start_ns);

}  // namespace tbtrace::jobs
