// The steps whose critical path is asked for, with the device work of each.
// Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

#include "analyses/steps/rules.h"
#include "base/time_ranges.h"

namespace tbtrace::analyses {

inline constexpr std::uint32_t kNoStep = UINT32_MAX;

struct PathStep {
  Step step;       ///< event: EventId::none if it stands for the whole trace
  TimeRange time;  ///< as in the table steps
  TimeRange host;  ///< its range on the host
  TrackId thread = {};
};

struct PathSteps {
  std::vector<PathStep> steps;         ///< by start; they do not overlap
  std::vector<std::uint32_t> of_work;  ///< by number of work: the step that launched it, or none
  /// The work of before that the first step waits for on the device, if it begins later there.
  std::optional<std::uint32_t> before = {};
  std::optional<StepRange> chosen = {};  ///< of which rows are made; all if none

  bool is_chosen(std::size_t step) const {
    return !chosen || chosen->contains(steps[step].step.number);
  }
  /// The step in whose time a time is.
  std::uint32_t at(std::int64_t time_ns) const;
};

/// All complete steps of a trace, of which `chosen` are chosen; without steps the whole trace is
/// one. Fails if there is none of these.
Result<PathSteps> path_steps(const Trace& trace, const StepRules& rules,
                             const std::optional<StepRange>& chosen);

}  // namespace tbtrace::analyses
