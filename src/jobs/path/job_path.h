// The recordings of a job's ranks as one graph, joined where they wait for each other: its steps,
// its critical path, and its replay.
// Refers to the traces, which must outlive it. Immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tbtrace/clocks.h>
#include <tbtrace/collectives.h>
#include <tbtrace/job_paths.h>
#include <tbtrace/report.h>
#include <tbtrace/status.h>

#include "analyses/path/changes.h"
#include "analyses/path/critical_path.h"
#include "analyses/path/net.h"
#include "analyses/path/path_table.h"
#include "analyses/path/recording.h"
#include "analyses/path/replay.h"
#include "jobs/path/joined.h"

namespace tbtrace::jobs {

/// Lengths of all edges, and the changes that made them, by rank.
struct JobChange {
  std::vector<analyses::PathChanges> of_rank;
  std::vector<std::int64_t> lengths;
};

class JobPath {
 public:
  JobPath(std::span<const RankTrace> traces, const std::optional<StepRange>& steps,
          bool loader_rests = false);

  /// Whether there are two ranks with collectives, so that it is a job at all.
  bool is_job() const { return is_job_; }
  /// A part of a sentence; empty if there is none.
  const std::string& problem() const { return problem_; }

  // All below only without a problem.

  std::size_t ranks() const { return recordings_.size(); }
  std::int64_t rank(std::size_t place) const { return job_.ranks[place].rank; }
  const std::string& path(std::size_t place) const { return job_.ranks[place].record.path; }
  const analyses::PathRecording& recording(std::size_t place) const { return *recordings_[place]; }
  bool is_loader_unclear() const;

  /// Fails if no rank has what a change names. `factors`: by rank, of all work that is not
  /// communication. `notes`: changes that change nothing.
  Result<JobChange> change(const std::vector<analyses::PathChange>& changes,
                           const std::vector<double>& factors,
                           std::vector<std::string>& notes) const;

  /// How long a step of a rank takes on average if its communication takes no time, and it waits
  /// for no other rank.
  std::int64_t own_ns(std::size_t place) const;

  std::vector<std::int64_t> replayed(const JobChange& change) const {
    return analyses::replay(net_, change.lengths);
  }
  std::vector<std::int64_t> replayed_unchanged() const { return replayed(unchanged_); }
  std::size_t chosen_steps() const;
  std::int64_t sum_of_chosen(std::span<const std::int64_t> by_step) const;
  /// From the start of the first chosen step to the end of the last one.
  std::int64_t wall_ns(std::span<const std::int64_t> times) const;

  const analyses::ReplayQuality& quality() const { return quality_; }

  /// The critical path by rank, as recorded, or with a change and the times that it gives.
  std::vector<analyses::PathPart> recorded_path() const { return parts(*path_, unchanged_); }
  std::vector<analyses::PathPart> parts(const analyses::CriticalPath& path,
                                        const JobChange& change) const;
  analyses::CriticalPath path_after(std::span<const std::int64_t> times,
                                    const JobChange& change) const {
    return {net_, targets(times), times, change.lengths};
  }

 private:
  void read(std::span<const RankTrace> traces, const std::optional<StepRange>& steps,
            bool loader_rests);
  void join();
  bool find_steps();
  void make_net();
  void judge();
  std::size_t rank_of(analyses::PathNode node) const;
  std::span<const std::int64_t> of_rank(std::span<const std::int64_t> by_node,
                                        std::size_t place) const;
  std::vector<analyses::StepSpan> spans(std::span<const std::int64_t> times) const;
  analyses::PathTargets targets(std::span<const std::int64_t> times) const;
  std::vector<std::int64_t> lengths_of(const std::vector<analyses::PathChanges>& of_rank) const;

  struct Step {
    std::int64_t number = 0;
    bool is_chosen = false;
    std::vector<std::uint32_t> of_rank;  ///< in the steps of each
  };

  JobCollectives job_;
  std::vector<RankClock> clocks_;
  WorkOfCollectives work_;
  std::vector<std::unique_ptr<analyses::PathRecording>> recordings_;  // by rank, as the following
  std::vector<std::vector<std::int64_t>> transfers_;                  // by work; -1: not joined
  std::vector<std::vector<std::int64_t>> waits_;                      // by work
  std::vector<analyses::PathNode> base_;  // the first point of each, and after the last one
  JoinedCollectives joined_;
  std::vector<Step> steps_;
  analyses::PathNet net_;
  std::vector<std::uint32_t> edge_of_rank_;  // by edge: its number in the rank's graph, or kNoWork
  JobChange unchanged_;
  std::unique_ptr<analyses::CriticalPath> path_;
  analyses::ReplayQuality quality_;
  bool is_job_ = false;
  std::string problem_;
};

}  // namespace tbtrace::jobs
