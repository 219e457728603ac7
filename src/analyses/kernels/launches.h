// Kernels with the calls that launched them, as rows, in any definition.
#pragma once

#include <span>

#include <tbtrace/kernels.h>
#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// Without the step and the operator.
KernelLaunch launch_row(const Trace& trace, EventId kernel, EventId call);

/// Rows of `tbtrace.kernels/1`.
AnalysisReport launch_report_of(const Trace& trace, std::span<const KernelLaunch> launches);

}  // namespace tbtrace::analyses
