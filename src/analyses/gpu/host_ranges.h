// What a thread of the host did in a time, such as a gap of a device.
// Results are plain values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tbtrace/trace.h>

#include "base/time_ranges.h"

namespace tbtrace::analyses {

struct ThreadTime {
  TrackId thread = {};
  TimeRange time;
};

struct HostTime {
  /// In which the thread spent the largest part: from the longest of the outermost ranges always on
  /// to the longest one inside, up to a range that had more time to itself than anything inside it.
  /// EventId::none if no range was open for more than half of the time.
  EventId range = EventId::none;
  std::int64_t ns = 0;  ///< for how long it, or none, was open
};

/// One for each of `times`, which are by start and do not overlap. Takes time in proportion to the
/// trace, and for each of `times` to how deep the ranges nest.
std::vector<HostTime> host_times(const Trace& trace, std::span<const ThreadTime> times);

}  // namespace tbtrace::analyses
