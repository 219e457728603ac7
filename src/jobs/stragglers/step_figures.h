// The steps of ranks side by side, and by how much each rank's own work is longer than that of
// ranks that do the same.
// Made from a JobCollectives, which must outlive it. Immutable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <tbtrace/clocks.h>
#include <tbtrace/collectives.h>

namespace tbtrace::jobs {

/// A rank in a step, in ns of the reference's clock.
struct StepOfRank {
  bool is_there = false;
  double duration = 0;
  double own = 0;  ///< everything but exposed communication
  std::array<double, kRankTimes> times = {};
  double silent = 0;
  double kernels = 0;
  double launch_interval = 0;  ///< from one launch to the next, median
  double launch_intervals = 0;
  /// How much longer its kernels took than the same kernels on other ranks.
  double slower_kernels = 0;
};

/// Where a rank's own time in a step went beyond that of its peers; the same units.
struct StepExcess {
  bool is_known = false;
  double total = 0;
  std::array<double, kRankTimes> times = {};
  double silent = 0;
  /// How much longer all launches of the step took than at the speed of the others' hosts, by the
  /// median launch, so without pauses.
  double slower_launches = 0;
  /// How much longer the usual rank communicated, which includes waiting.
  double waited = 0;
};

/// Whether ranks send messages to each other, so that they may do different work by design.
bool has_messages(const JobCollectives& job);

class StepFigures {
 public:
  StepFigures(const JobCollectives& job, std::span<const RankClock> clocks);

  /// Numbers of steps that at least two ranks have, ascending.
  const std::vector<std::int64_t>& steps() const { return steps_; }
  std::size_t ranks() const { return rows_.size(); }
  const StepOfRank& at(std::size_t rank, std::size_t step) const { return rows_[rank][step]; }
  /// Compared with the middle one of the ranks that do the same work in the step.
  StepExcess excess(std::size_t rank, std::size_t step) const;
  /// Of all ranks and steps; 0 without steps.
  double median_duration() const;
  /// Ranks send messages to each other, so that they may do different work by design.
  bool is_pipeline() const { return is_pipeline_; }

 private:
  /// What is usual among ranks in a step: medians.
  struct Usual {
    std::array<double, kRankTimes> times = {};
    double own = 0;
    double silent = 0;
    double launch_interval = 0;
    double most_communication = 0;  ///< of two ranks that of the one that waits
  };
  static Usual usual_of(const std::vector<const StepOfRank*>& ranks);

  bool is_without_peers(std::size_t rank, std::size_t step) const;
  void find_slower_kernels();
  void find_peers();
  void find_usual();

  const JobCollectives& job_;
  bool is_pipeline_ = false;
  std::vector<std::int64_t> steps_;
  std::vector<std::vector<StepOfRank>> rows_;    // by rank, then by step
  std::vector<std::vector<std::size_t>> peers_;  // by rank: the others with the same work
  std::vector<std::optional<Usual>> usual_;      // by step, where it is the same for all ranks
};

/// The middle one, or the lower one of two, so that one slow rank of two does not count as usual; 0
/// without values.
double lower_median(std::vector<double> values);

}  // namespace tbtrace::jobs
