// Activities and the calls that launched them: how many a call launched, and how long they waited.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <tbtrace/trace.h>

#include "base/bounded_sum.h"
#include "trace/links.h"

namespace tbtrace::analyses {

/// From the end of a call to the start of an activity that it launched; 0 if it started before.
inline WideInteger launch_delay(const Events& events, EventId activity, EventId call) {
  return std::max<WideInteger>(
      0, WideInteger{events.start_ns(activity)} - events.start_ns(call) - events.duration_ns(call));
}

/// How many device activities each call launched: one, or those of a CUDA graph. Made from a Trace,
/// which must outlive it. Immutable.
class LaunchedActivities {
 public:
  explicit LaunchedActivities(const Trace& trace)
      : events_(trace.events()), sizes_(events_.size(), 0) {
    for (const DeviceLink& link : links_of(trace).device_work()) {
      if (link.launch != EventId::none) ++sizes_[index(link.launch)];
    }
  }

  /// Whether an activity was the only one of its launch call and took less time than the call.
  bool is_short(EventId activity, EventId launch) const {
    return sizes_[index(launch)] == 1 &&
           events_.duration_ns(activity) < events_.duration_ns(launch);
  }

 private:
  const Events& events_;
  std::vector<std::uint32_t> sizes_;  // by event
};

}  // namespace tbtrace::analyses
