// The totals of several reports whose sums alone would be wrong: AnalysisReport::joined_totals.
// Pure functions.
#pragma once

#include <tbtrace/analysis_report.h>

namespace tbtrace::analyses {

/// The means are those of all steps of all traces; which steps are outliers was decided in each.
AnalysisReport::Totals joined_step_totals(const AnalysisReport::Totals& sums, const Table& rows);

/// The share of busy time is that of all windows together.
AnalysisReport::Totals joined_gpu_totals(const AnalysisReport::Totals& sums, const Table& rows);

}  // namespace tbtrace::analyses
