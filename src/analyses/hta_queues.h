// Queue lengths of streams as HolisticTraceAnalysis summarizes them.
// Results are plain values.
// Source: HolisticTraceAnalysis 0.5.0, hta/analyzers/trace_counters.py.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <tbtrace/gpu_use.h>
#include <tbtrace/trace.h>

#include "analyses/hta_links.h"
#include "analyses/hta_rows.h"

namespace tbtrace::analyses {

/// Of the lengths at which a queue was, one value per change. `lengths` must not be empty.
QueueChanges summary_of_changes(std::vector<std::int64_t> lengths);

/// By number of a stream. A queue grows by one at the start of a call that launches an activity and
/// shrinks by one at the activity's start; a call before an activity at the same time. Empty if two
/// calls share a correlation, or a call has no activity with a stream: HolisticTraceAnalysis fails
/// then.
std::map<std::int64_t, QueueChanges> hta_queues(const Trace& trace, const HtaRows& rows,
                                                const HtaLinks& links);

}  // namespace tbtrace::analyses
