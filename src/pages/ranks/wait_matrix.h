// Who waits for whom, as JSON.
// Pure functions; results are plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tbtrace/job_analysis.h>

#include "wire/json_emitter.h"

namespace tbtrace::pages {

struct WaitMatrix {
  std::size_t all_ranks = 0;
  /// Places of ranks in the job: those that waited or were waited for longest.
  std::vector<std::size_t> ranks;
  /// By waiting rank, as in `ranks`: by the rank that arrived last, then for ranks that are not in
  /// the list, then where the last rank is not known. A row is all that the rank waited.
  std::vector<std::vector<std::int64_t>> rows;
  /// By rank of the job: how long others waited because it arrived last, each of them counted.
  std::vector<std::int64_t> made_wait_ns;
};

WaitMatrix wait_matrix(const JobAnalysis& job, std::size_t limit);

/// The first ranks only; those that are left out are added to the others.
void emit_waits(wire::JsonEmitter& json, const WaitMatrix& matrix, std::size_t limit);

}  // namespace tbtrace::pages
