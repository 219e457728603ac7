// The activities of each device, and the window in which they count.
// Results are plain values that refer to a Trace.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

#include "base/time_ranges.h"

namespace tbtrace::analyses {

/// By start.
using Activities = std::vector<const DeviceLink*>;

struct ActivityWindow {
  TimeRange time;
  /// It is where the activities of a device begin and end, so that all of them count. Otherwise
  /// only those that run in it do, and their time in it.
  bool is_whole = false;

  TimeRange part_in(const Events& events, const DeviceLink& link) const;
  Activities inside(const Events& events, const Activities& activities) const;
};

struct DeviceActivities {
  std::int64_t device = 0;  ///< its number
  Activities activities;    ///< all of the trace but misplaced ones
  ActivityWindow window;
};

/// By device. The window is the time of the steps, without them that from the first start of an
/// activity on the device to the last end. Fails if `steps` names no step of the trace.
Result<std::vector<DeviceActivities>> device_activities(const Trace& trace,
                                                        const std::optional<StepRange>& steps);

}  // namespace tbtrace::analyses
