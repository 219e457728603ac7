// When each step begins and ends: its range on the host, widened to the work that it launched.
// Results are plain values.
// Source: torch-tb-profiler, profiler/event_parser.py (_find_device_steps, _update_steps_duration).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/steps/rules.h"
#include "base/time_ranges.h"

namespace tbtrace::analyses {

struct StepWindow {
  Step step;  ///< event: EventId::none if it stands for the whole trace
  TimeRange time;
  std::uint64_t launched = 0;  ///< work that was launched in it
};

struct StepWindows {
  std::vector<StepWindow> steps;  ///< by start
  std::size_t dropped = 0;        ///< steps left out at the end
  std::vector<Step> unfinished;   ///< steps left out because they did not end, by start
};

/// Which steps are left out.
enum class StepChoice : std::uint8_t {
  complete,      ///< those at the end whose work may be missing, and those that did not end
  finished,      ///< those that did not end
  all_recorded,  ///< none
};

/// `work`: all work, by start. Which step launched it: StepPolicy::launches_by_open_step.
StepWindows step_windows(const Trace& trace, const StepRules& rules,
                         std::span<const DeviceLink> work, StepChoice choice);

}  // namespace tbtrace::analyses
