// The exact operator summary: integer nanoseconds and bytes that add up.
// Results own their texts.
#pragma once

#include <span>

#include <tbtrace/analyses.h>

namespace tbtrace::analyses {

/// Self times are those of the exact tree; a row's totals count nested calls of the same row once.
/// Two rows complete the sums: `[idle]` is the time in which a host thread ran nothing, and
/// `[unattributed]` the device time and memory that belong to no range. Kernel, memcpy and memset
/// rows show the device side.
OperatorSummary exact_summary(std::span<const Trace* const> traces, const SummaryOptions& options);

}  // namespace tbtrace::analyses
