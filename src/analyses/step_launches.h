// Which call launched which work of a device, as the step breakdown counts it.
// Results are plain values; pure function.
// Work whose launch is not known has none.
#pragma once

#include <vector>

#include <tbtrace/trace.h>

#include "analyses/step_rules.h"

namespace tbtrace::analyses {

/// A kernel, copy or fill; EventId::none where nothing in the file launched it.
struct LaunchedWork {
  EventId work = EventId::none;
  EventId launch = EventId::none;
};

/// All work, by start. Exact figures have the links of the trace. The plugin has `correlation`
/// only: the latest call before the work that bears its number, else the first behind it; no number
/// is a number like any other.
std::vector<LaunchedWork> launched_work(const Trace& trace, const StepRules& rules);

}  // namespace tbtrace::analyses
