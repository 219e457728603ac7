// The steps as the rows of `tbtrace.steps/1`.
#pragma once

#include <tbtrace/steps.h>
#include <tbtrace/tables.h>

namespace tbtrace::analyses {

StepBreakdownOptions steps_options(const OptionValues& values);

/// The steps of a breakdown in any figures that was made with the same options.
Result<AnalysisReport> steps_report_of(const Trace& trace, StepBreakdown breakdown,
                                       const OptionValues& values);

}  // namespace tbtrace::analyses
