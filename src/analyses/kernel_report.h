// A summary of kernels as the rows of `tbtrace.kernels/1`, wherever it comes from.
#pragma once

#include <cstdint>
#include <optional>

#include <tbtrace/analysis_report.h>
#include <tbtrace/kernels.h>

namespace tbtrace::analyses {

AnalysisReport kernel_report_of(const KernelSummary& summary, const KernelsOptions& options,
                                std::optional<std::int64_t> rank, SourceReport source);

}  // namespace tbtrace::analyses
