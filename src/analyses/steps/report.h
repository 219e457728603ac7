// The steps as the rows of `tbtrace.steps/1`.
#pragma once

#include <tbtrace/analysis_report.h>

namespace tbtrace::analyses {

/// The totals of several reports: the means are those of all steps of all traces; which steps are
/// outliers was decided in each.
AnalysisReport::Totals joined_step_totals(const AnalysisReport::Totals& sums, const Table& rows);

}  // namespace tbtrace::analyses
