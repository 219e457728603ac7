// The time of chosen steps.
#pragma once

#include <optional>
#include <string>

#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

#include "base/time_ranges.h"

namespace tbtrace::analyses {

/// Why `wanted` selects nothing; `existing` are the steps that there are. `why_none`: a sentence
/// that follows if there are none.
Status no_such_steps(const StepRange& wanted, const std::optional<StepRange>& existing,
                     const std::string& why_none = {});

/// From the start of the first of the steps to the end of the last one, both widened as in
/// step_breakdown(); steps at the end of the trace are kept. nullopt if none are chosen. Fails if
/// the trace has none of them.
Result<std::optional<TimeRange>> window_of_steps(const Trace& trace,
                                                 const std::optional<StepRange>& steps);

/// From the start of the first of the steps to the end of the last one on the host, without the
/// device work that they launched. nullopt if none are chosen. Fails like window_of_steps().
Result<std::optional<TimeRange>> host_time_of_steps(const Trace& trace,
                                                    const std::optional<StepRange>& steps);

}  // namespace tbtrace::analyses
