// Where the largest kernels came from.
// Pure function; results own their texts.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <tbtrace/kernels.h>
#include <tbtrace/summary.h>
#include <tbtrace/trace.h>

#include "base/time_ranges.h"

namespace tbtrace::analyses {

/// For each group of kernels of one name: the operator, input shapes, line of the user's own code
/// and module that most of its time came from together. Only kernels that start in `window`, if
/// given. Takes O(n log n) time.
std::vector<KernelOrigin> kernel_origins(const Trace& trace, std::span<const KernelGroup> groups,
                                         const std::optional<TimeRange>& window = std::nullopt);

}  // namespace tbtrace::analyses
