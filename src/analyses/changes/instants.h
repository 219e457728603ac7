// Whose each instant of a step is: what takes the time of steps, divided among ranges without a
// rest. Pure function of a Trace.
#pragma once

#include <cstdint>
#include <vector>

#include <tbtrace/steps.h>
#include <tbtrace/trace.h>

#include "base/column.h"

namespace tbtrace::analyses {

/// The time of the steps of a breakdown, by what it belongs to. What events have, and `nothing_ns`,
/// add up to the durations of the steps.
struct StepInstants {
  Column<std::int64_t> ns;  ///< by event, in all steps together
  Column<StepRole> role;    ///< by event; meaningless for those without time
  std::int64_t nothing_ns = 0;
};

/// An instant belongs to the first StepRole of those that are open, as in step_breakdown(). Of
/// several kernels, memcpys or memsets it belongs to the one that started first. Of several ranges
/// of the host it belongs to an operator or call on a thread of the steps; without one, to one on a
/// thread that runs autograd's nodes; without that, to an annotation on a thread of the steps, to
/// another thread of its process, to another process; among equals to the one that started last.
/// `breakdown`: of this trace, in exact figures.
StepInstants step_instants(const Trace& trace, const StepBreakdown& breakdown);

}  // namespace tbtrace::analyses
