// The heat map of a job: what each rank's time went to in each step, as JSON.
// Pure functions; results are plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tbtrace/ranks_view.h>

#include "pages/ranks/job_steps.h"
#include "wire/json_emitter.h"

namespace tbtrace::pages {

/// A rank in a step.
struct RankCell {
  bool is_there = false;
  std::int64_t start_ns = 0;  ///< since the start of the rank's first recording
  std::int64_t duration_ns = 0;
  std::array<std::int64_t, kStepParts> parts = {};
  std::optional<std::int64_t> excess_ns = {};
  bool is_late = false;  ///< one of the steps by which a rank holds up the job
};

struct RankCells {
  std::size_t all_ranks = 0;
  std::size_t all_steps = 0;
  /// Places of ranks and steps in the job, the most interesting first; the cells are of these.
  std::vector<std::size_t> ranks;
  std::vector<std::size_t> steps;
  std::vector<std::int64_t> numbers;  ///< of the steps, by their place in the job
  std::vector<RankCell> cells;        ///< by rank, then by step, as in the lists above
};

RankCells rank_cells(const JobAnalysis& job, const JobSteps& steps, std::size_t limit);

void emit_cells(wire::JsonEmitter& json, const RankCells& cells, std::size_t limit);

}  // namespace tbtrace::pages
