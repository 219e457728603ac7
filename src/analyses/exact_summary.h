// The operator summary in exact figures: integer nanoseconds and bytes that add up.
// Results own their texts. Pure function.
#pragma once

#include <span>

#include <tbtrace/analyses.h>

namespace tbtrace::analyses {

/// Self times are those of the exact tree; a row's totals count nested calls of the same row once.
/// Two rows close the sums: `[idle]` is the time in which a thread of the host ran nothing, and
/// `[unattributed]` the device time and the memory that belong to no range. Rows of kernels, copies
/// and fills show the device's own side.
OperatorSummary exact_summary(std::span<const Trace* const> traces, const SummaryOptions& options);

}  // namespace tbtrace::analyses
