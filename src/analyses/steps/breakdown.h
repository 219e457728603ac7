// The step breakdown, in any definition.
// Pure function of a trace.
#pragma once

#include <span>

#include <tbtrace/steps.h>
#include <tbtrace/trace.h>

#include "analyses/steps/rules.h"

namespace tbtrace::analyses {

/// `work`: all kernels, memcpys and memsets, by start, with the launches that belong to them.
StepBreakdown breakdown_by(const Trace& trace, const StepPolicy& policy,
                           std::span<const DeviceLink> work, const StepBreakdownOptions& options);

}  // namespace tbtrace::analyses
