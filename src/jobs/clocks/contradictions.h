// Matches that the times of the ranks contradict.
#pragma once

#include <span>

#include <tbtrace/clocks.h>
#include <tbtrace/collectives.h>

namespace tbtrace::jobs {

/// Removes the matches by order of an operation and size, and counts them as unmatched, if on ranks
/// with known clocks their parts do not run at the same time in more than one case of 50, or if
/// their ends are as far apart as their starts. Returns whether it removed any.
bool remove_contradictions(JobCollectives& job, std::span<const RankClock> clocks);

}  // namespace tbtrace::jobs
