// Queue lengths of streams as HolisticTraceAnalysis summarizes them.
// Results are plain values.
// Source: HolisticTraceAnalysis 0.5.0, hta/analyzers/trace_counters.py.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/compat/hta/links.h"
#include "analyses/compat/hta/rows.h"

namespace tbtrace::analyses {

/// The lengths at which the queue of a stream was, one value per launch and per start of an
/// activity, however long it stayed there. A queue is shorter than 0 if activities start before
/// their launches.
struct QueueChanges {
  std::uint64_t count = 0;
  double mean = 0;
  std::optional<double> stddev = {};  ///< of a sample; none if the count is 1
  std::int64_t min = 0;
  double quartile_1 = 0;  ///< between two values, linearly interpolated, as the next two
  double median = 0;
  double quartile_3 = 0;
  std::int64_t max = 0;
};

/// Of the lengths at which a queue was, one value per change. `lengths` must not be empty.
QueueChanges summary_of_changes(std::vector<std::int64_t> lengths);

/// By number of a stream. A queue grows by one at the start of a call that launches an activity and
/// shrinks by one at the activity's start; a call before an activity at the same time. Empty if two
/// calls share a correlation, or a call has no activity with a stream: HolisticTraceAnalysis fails
/// then.
std::map<std::int64_t, QueueChanges> hta_queues(const Trace& trace, const HtaRows& rows,
                                                const HtaLinks& links);

}  // namespace tbtrace::analyses
