// The times in which a device, or a stream, ran nothing, and why.
// Results are plain values.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <tbtrace/trace.h>

#include "base/time_ranges.h"

namespace tbtrace::analyses {

enum class GapCause : std::uint8_t {
  host_wait,    ///< the activity that ended the gap was launched when it had already begun
  kernel_wait,  ///< launched before, and the gap is short
  other,        ///< launched before, and the gap is long; unknown launch; the window's edge
};

struct DeviceGap {
  TimeRange time;
  GapCause cause = GapCause::other;
  /// The activity that ends it, with its launch: of several with the same start the one launched
  /// first. EventId::none at the window's end.
  DeviceLink ended_by;
  /// The activity that ended last before it; EventId::none at the window's start.
  EventId after = EventId::none;
};

/// `activities`: those that run in the window, by start. Gaps shorter than `kernel_wait_limit_ns`
/// count as short.
std::vector<DeviceGap> device_gaps(const Trace& trace,
                                   std::span<const DeviceLink* const> activities, TimeRange window,
                                   std::int64_t kernel_wait_limit_ns);

}  // namespace tbtrace::analyses
