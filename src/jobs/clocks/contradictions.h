// Matches that the times of the ranks contradict.
#pragma once

#include <span>

#include <tbtrace/clocks.h>
#include <tbtrace/collectives.h>

namespace tbtrace::jobs {

/// Removes the matches by order of an operation and size whose parts do not run at the same time
/// on ranks with known clocks, in more than one case of 50, and counts them as unmatched. Returns
/// whether it removed any.
bool remove_contradictions(JobCollectives& job, std::span<const RankClock> clocks);

}  // namespace tbtrace::jobs
