// Which iterations of ranks are the same, where each recording counts its own from 0.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <tbtrace/collectives.h>

namespace tbtrace::jobs {

/// Gives the iterations of all recordings the numbers of the job. What can be told: by collectives
/// with a sequence number; by names, if only one place fits and they are not all the same; by the
/// times between their ends, which are equal on ranks that wait for each other; by the clock of a
/// host that ranks have in common; or if ranks have equally many iterations of equal names. Ranks
/// of which it cannot be told have no iteration in common. `by_rank`: the recordings of each rank,
/// by time. Adds sentences for people to `notes`.
void number_iterations(std::map<std::int64_t, std::vector<RankRecord>>& by_rank,
                       std::vector<std::string>& notes);

}  // namespace tbtrace::jobs
