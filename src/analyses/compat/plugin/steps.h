// The step breakdown of torch-tb-profiler.
// Source: kineto tb_plugin, profiler/{event_parser,overall_parser}.py at 94979607^.
#pragma once

#include <tbtrace/steps.h>
#include <tbtrace/trace.h>

#include "analyses/steps/rules.h"

namespace tbtrace::analyses {

/// Its times, which are rounded to doubles, its lists of categories and names, and its flaw: once a
/// role leaves no free instant in the steps, later roles are counted as if no time had been taken,
/// so the parts can add up to more than the step.
const StepPolicy& plugin_step_policy();

StepBreakdown plugin_step_breakdown(const Trace& trace, const StepBreakdownOptions& options = {});

}  // namespace tbtrace::analyses
