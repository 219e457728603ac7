// Stacks of a part of the time of a trace.
#pragma once

#include <tbtrace/flame_graph.h>
#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

#include "base/time_ranges.h"

namespace tbtrace::analyses {

/// flame_graph() of a time on the host, instead of that of `options.steps`.
Result<StackTree> flame_graph_in(const Trace& trace, const FlameGraphOptions& options,
                                 TimeRange window);

}  // namespace tbtrace::analyses
