// A record that is bounded, so that those of thousands of ranks fit into one partial.
// Pure function.
#pragma once

#include <cstddef>

#include <tbtrace/collectives.h>

namespace tbtrace::jobs {

/// What a record may have at most.
struct SampleLimits {
  std::size_t collectives = 2000;
  std::size_t exposed_ranges = 8000;  ///< of these collectives
  std::size_t kernel_sums = 2000;     ///< of all steps together
};

/// Leaves out what is above the limits, and says so in `recordings`. Collectives are chosen by
/// match_hash(), kernels by their time in all steps; of a collective or kernel that stays all
/// stays. Steps, groups and counts are never touched: which ranks a group has depends on them.
/// `record`: of one recording, as rank_record() makes it. Takes O(n log n) time.
void limit_record(RankRecord& record, const SampleLimits& limits = {});

}  // namespace tbtrace::jobs
