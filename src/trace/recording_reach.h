// Which device work lies so far outside of the recording that its times cannot be.
// The one definition for the trace's window and for all figures about time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/time_ranges.h"

namespace tbtrace {

/// A launch comes before what it launches. Clocks of devices are off by milliseconds at most,
/// unless they were read wrongly.
inline constexpr std::int64_t kFarBeforeLaunchNs = 1'000'000'000;

/// From the first to the last device work that belongs to a recording, and all host ranges. Work
/// may run long after the last host range, but one piece follows the other: where nothing runs for
/// longer than the whole recording on the host, and one second, what lies beyond does not belong to
/// it. `host`: from the first host range to the end of the last one. `work`: of each piece of
/// device work, by start.
/// nullopt if all work belongs to it; also if half of it or more would not, since then the host
/// ranges or the clock of the device do not show when the recording was.
std::optional<TimeRange> recording_reach(TimeRange host, std::span<const TimeRange> work);

inline bool is_outside(TimeRange reach, TimeRange work) {
  return work.end < reach.start || work.start > reach.end;
}

}  // namespace tbtrace
