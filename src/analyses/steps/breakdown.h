// The step breakdown, in any definition.
// Pure function of a trace.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <tbtrace/steps.h>
#include <tbtrace/trace.h>

#include "analyses/steps/rules.h"

namespace tbtrace::analyses {

/// `work`: all kernels, memcpys and memsets, by start, with the launches that belong to them.
StepBreakdown breakdown_by(const Trace& trace, const StepPolicy& policy,
                           std::span<const DeviceLink> work, const StepBreakdownOptions& options);

/// Sentences about steps that are not among those of the breakdown: that did not end, at most five
/// of them (one per process, or per thread that has steps of its own); at last, those at the end.
std::vector<std::string> left_out_steps_texts(const StepBreakdown& breakdown);

}  // namespace tbtrace::analyses
