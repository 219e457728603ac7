// The collectives of a trace that run on threads of the host, and what started them.
// Results are plain values. Pure function.
#pragma once

#include <vector>

#include <tbtrace/trace.h>

#include "analyses/path/graph.h"
#include "jobs/collectives/recorded.h"

namespace tbtrace::jobs {

/// By start. What started one is the call of c10d that is around it, else the last one before it on
/// another thread of the process that has not started another one.
std::vector<analyses::HostCollective> host_collectives(const Trace& trace,
                                                       const RecordedCollectives& recorded);

}  // namespace tbtrace::jobs
