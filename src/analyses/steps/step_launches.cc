#include "analyses/steps/step_launches.h"

#include <optional>
#include <unordered_set>

#include "analyses/attribution/open_steps.h"
#include "base/bounded_sum.h"
#include "trace/links.h"

namespace tbtrace::analyses {

std::unordered_map<std::int64_t, StepLaunches> step_launches(const Trace& trace) {
  std::unordered_map<std::int64_t, StepLaunches> launches;
  const StepOfEvent steps(trace);
  std::unordered_set<EventId> seen;
  for (const DeviceLink& link : links_of(trace).placed_work()) {
    if (link.launch == EventId::none || !seen.insert(link.launch).second) continue;
    const std::optional<std::int64_t> step = steps.of(link.activity);
    if (!step) continue;
    StepLaunches& of_step = launches[*step];
    ++of_step.count;
    add_bounded(of_step.ns, trace.events().duration_ns(link.launch));
  }
  return launches;
}

}  // namespace tbtrace::analyses
