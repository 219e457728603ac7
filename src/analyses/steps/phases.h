// What the host did in each step: forward pass, backward pass, optimizer, data loading.
// Fills columns of a breakdown; has no state.
#pragma once

#include <span>

#include <tbtrace/steps.h>
#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// Sets the steps' `phase_ns`; the other columns must be there. `step_events`: the range of each
/// step on the host, EventId::none for one that stands for the whole trace. docs/formats/steps.md
/// has the rules.
void add_phases(StepBreakdown& breakdown, const Trace& trace, std::span<const EventId> step_events);

}  // namespace tbtrace::analyses
