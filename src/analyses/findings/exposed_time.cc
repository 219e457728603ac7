#include "analyses/findings/exposed_time.h"

namespace tbtrace::analyses {

DeviceTimes::DeviceTimes(const Trace& trace, const Activities& activities)
    : rules_(trace, exact_step_policy()) {
  const Events& events = trace.events();
  for (const DeviceLink* link : activities) {
    const TimeRange time = {events.start_ns(link->activity), events.end_ns(link->activity)};
    switch (role(link->activity)) {
      case StepRole::kernel:
        add_range(computation_, time);
        break;
      case StepRole::communication:
        add_range(communication_, time);
        break;
      default:
        break;
    }
  }
}

StepRole DeviceTimes::role(EventId activity) const {
  return rules_.role(activity).value_or(StepRole::other);
}

std::vector<TimeRange> DeviceTimes::exposed_communication(
    std::span<const TimeRange> communication) const {
  return difference(communication, computation_);
}

std::vector<TimeRange> DeviceTimes::exposed_copies(std::span<const TimeRange> copies) const {
  return difference(difference(copies, computation_), communication_);
}

}  // namespace tbtrace::analyses
