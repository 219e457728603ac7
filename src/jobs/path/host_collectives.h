// The collectives of a trace that run on threads of the host, and what started them.
// Results are plain values. Pure function.
#pragma once

#include <vector>

#include <tbtrace/trace.h>

#include "analyses/path/graph.h"
#include "jobs/collectives/recorded.h"

namespace tbtrace::jobs {

/// By start. What started one is the first call of c10d of its kind in the process that has not
/// started another one, and did not end on the same thread before; without one of its kind the last
/// of all calls.
std::vector<analyses::HostCollective> host_collectives(const Trace& trace,
                                                       const RecordedCollectives& recorded);

}  // namespace tbtrace::jobs
