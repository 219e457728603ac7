#include "analyses/step_launches.h"

#include <cstddef>
#include <cstdint>

#include "base/id_map.h"
#include "trace/links.h"

namespace tbtrace::analyses {
namespace {

std::vector<LaunchedWork> work_by_links(const Trace& trace) {
  std::vector<LaunchedWork> work;
  work.reserve(trace.device_links().device_work().size());
  for (const DeviceLink& link : trace.device_links().device_work()) {
    work.push_back({link.work, link.launch});
  }
  return work;
}

}  // namespace

std::vector<LaunchedWork> launched_work(const Trace& trace, const StepRules& rules) {
  if (rules.figures() == StepFigures::exact) return work_by_links(trace);
  std::vector<LaunchedWork> work;
  IdMap launches;                             // the latest call with a number
  IdMap waiting;                              // the last work with a number that no call had
  std::vector<std::uint32_t> waiting_before;  // by row of work
  for (const EventId event : trace.by_start()) {
    const std::int64_t correlation = trace.correlation(event);
    if (rules.is_work(event)) {
      const auto row = static_cast<std::uint32_t>(work.size());
      const std::uint32_t launch = launches.find(correlation);
      work.push_back({event, static_cast<EventId>(launch)});  // none where there is none
      waiting_before.push_back(launch == IdMap::kNone ? waiting.replace(correlation, row)
                                                      : IdMap::kNone);
    } else if (rules.is_launch(event)) {
      const bool first =
          launches.replace(correlation, static_cast<std::uint32_t>(event)) == IdMap::kNone;
      if (!first) continue;
      for (std::uint32_t row = waiting.find(correlation); row != IdMap::kNone;
           row = waiting_before[row]) {
        work[row].launch = event;
      }
    }
  }
  return work;
}

}  // namespace tbtrace::analyses
