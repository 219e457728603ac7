// Ranks whose transfers take longer than the same transfers of other ranks.
// Results are plain values.
#pragma once

#include <span>
#include <vector>

#include <tbtrace/job_analysis.h>

#include "jobs/stragglers/step_figures.h"

namespace tbtrace::jobs {

/// Ranks, or pairs of them, that all slow groups have in common and that are in no group of usual
/// speed. Only transfers of one operation and size are compared, between groups of the same number
/// of ranks and hosts. Empty if all ranks are in one group: then nothing tells which one is slow.
std::vector<Straggler> slow_links(const JobCollectives& job, std::span<const CollectiveTimes> times,
                                  const StepFigures& figures);

}  // namespace tbtrace::jobs
