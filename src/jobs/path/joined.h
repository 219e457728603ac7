// Where the collectives of a job are in the graphs of its ranks, and how long they take once all
// ranks have come.
// Results are plain values. Pure function.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tbtrace/clocks.h>
#include <tbtrace/collectives.h>
#include <tbtrace/trace.h>

#include "analyses/path/graph.h"

namespace tbtrace::jobs {

/// A rank's part in a collective.
struct JoinedPart {
  std::uint32_t rank = 0;     ///< in JobCollectives::ranks
  std::uint32_t work = 0;     ///< in the rank's graph
  std::int64_t start_ns = 0;  ///< on the clock of the job
  std::int64_t wait_ns = 0;   ///< for the last rank that its end waits for
  std::int64_t transfer_ns = 0;
  std::vector<std::uint32_t> waits_for;  ///< parts, of those that not all wait for; not itself
};

struct JoinedCollective {
  bool is_for_all = false;  ///< each part waits for all others
  std::vector<JoinedPart> parts;
};

/// What each rank's graph is known by: by number of the rank's collective, the work of its graph,
/// or kNoWork where it is not one piece of work.
inline constexpr std::uint32_t kNoWork = UINT32_MAX;
using WorkOfCollectives = std::vector<std::vector<std::uint32_t>>;  // by rank

struct JoinedCollectives {
  std::vector<JoinedCollective> collectives;
  std::string problem;  ///< why the ranks cannot be replayed together; empty if they can
};

JoinedCollectives join_collectives(const JobCollectives& job, const std::vector<RankClock>& clocks,
                                   const WorkOfCollectives& work);

}  // namespace tbtrace::jobs
