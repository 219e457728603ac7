// Device use in each step: how long kernels ran, and the peak of allocated memory.
// Fills columns of a breakdown; has no state.
// Devices beyond the first 64 and records without the allocator's total are left out.
#pragma once

#include <span>

#include <tbtrace/steps.h>
#include <tbtrace/trace.h>

#include "analyses/steps/rules.h"

namespace tbtrace::analyses {

/// Sets `devices`, `busy_ns` and the steps' `busy_ns`.
void add_busy_times(StepBreakdown& breakdown, const Trace& trace, const StepRules& rules,
                    std::span<const DeviceLink> work);

/// Sets `memory_devices` and the steps' `peak_memory_bytes`.
void add_memory_peaks(StepBreakdown& breakdown, const Trace& trace);

}  // namespace tbtrace::analyses
