#include "analyses/findings/exposed_time.h"

#include <algorithm>
#include <cstddef>

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

std::int64_t ns_of_one_step(const FindingFacts& facts, std::span<const TimeRange> exposed) {
  constexpr std::size_t kStepsForPattern = 3;
  const std::vector<StepTime>& steps = facts.steps.steps;
  if (!facts.steps.has_steps() || steps.size() < kStepsForPattern) return 0;
  const RangeLengths lengths(exposed);
  std::int64_t most = 0;
  for (const StepTime& step : steps) {
    most = std::max(most, lengths.within({step.start_ns, step.end_ns}));
  }
  return most > total_length(exposed) - most ? most : 0;
}

}  // namespace tbtrace::analyses
