// Times of a trace: how far they may be from 0, which device work lies so far outside of the
// recording that its times cannot be, and as tables show them. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <tbtrace/trace.h>

#include "base/bounded_sum.h"
#include "base/time_ranges.h"

namespace tbtrace {

/// Times are nearer to 0 than this, so that differences of two of them do not overflow.
inline constexpr std::int64_t kFarthestNs = std::int64_t{1} << 62;

/// From the start of the trace's window to a time of the trace, in ns.
inline std::int64_t since_start(const Trace& trace, std::int64_t time_ns) {
  return bounded(WideInteger{time_ns} - trace.window_start_ns());
}

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
