// The steps that ranks have in common: what each rank's time went to, and which ranks and steps are
// worth looking at first.
// Made from a JobAnalysis, which must outlive it. Immutable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <tbtrace/job_analysis.h>

#include "jobs/stragglers/step_figures.h"

namespace tbtrace::pages {

/// What a step of a rank divides into: its parts add up to its duration.
enum class StepPart : std::uint8_t {
  compute,
  wait,      ///< for other ranks, in a collective, while nothing computes
  transfer,  ///< the rest of the exposed communication
  input,
  garbage_collection,
  memory,
  copy,
  launch,
  unknown,
};
inline constexpr std::size_t kStepParts = 9;

/// `compute_ns`, `wait_ns`, ...
std::string_view step_part_key(StepPart part);

class JobSteps {
 public:
  explicit JobSteps(const JobAnalysis& job);

  const std::vector<std::int64_t>& steps() const { return figures_.steps(); }
  std::size_t ranks() const { return rows_.size(); }
  /// nullptr: the rank does not have the step.
  const RankStep* at(std::size_t rank, std::size_t step) const { return rows_[rank][step].step; }
  /// All 0 of a rank that does not have the step.
  std::array<std::int64_t, kStepParts> parts(std::size_t rank, std::size_t step) const;
  /// By how much its own time, all but exposed communication, is longer than that of the middle one
  /// of the ranks that do the same work.
  std::optional<std::int64_t> excess_ns(std::size_t rank, std::size_t step) const;

  /// A quick estimate of excess_ns() with all ranks: 0 without the step.
  std::int64_t roughly_late_ns(std::size_t rank, std::size_t step) const;

  /// Places of ranks: those that hold up the job, a usual one, then by their own time.
  const std::vector<std::size_t>& ranks_by_interest() const { return ranks_by_interest_; }
  /// Places of steps: those in which a rank was latest, and steps over the whole recording, by
  /// turns.
  const std::vector<std::size_t>& steps_by_interest() const { return steps_by_interest_; }

 private:
  struct Place {
    const RankStep* step = nullptr;
    std::int64_t wait_ns = 0;
  };
  void order_ranks(const JobAnalysis& job);
  void order_steps();

  jobs::StepFigures figures_;
  std::vector<std::vector<Place>> rows_;    // by rank, then by step
  std::vector<std::int64_t> usual_own_ns_;  // by step: the middle one of all ranks
  std::vector<std::size_t> ranks_by_interest_;
  std::vector<std::size_t> steps_by_interest_;
};

}  // namespace tbtrace::pages
