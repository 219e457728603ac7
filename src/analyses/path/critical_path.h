// The critical path of each step: the chain of work and delays that the step took as long as, and
// by how much what is not on it could have been later.
// Plain values; pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analyses/path/graph.h"
#include "analyses/path/steps.h"
#include "base/bounded_sum.h"

namespace tbtrace::analyses {

/// A part of a critical path. The parts of a step add up to its time.
struct PathPiece {
  const PathEdge* edge = nullptr;  ///< nullptr: before the first recorded event
  TimeRange time;
  bool is_unexplained = false;  ///< beyond what the edge explains
  std::int64_t begins = 0;      ///< the time of the edge's start
};

class CriticalPath {
 public:
  /// `times` of all points, and `lengths` of all edges: with the recorded times, what is longer
  /// than an edge explains is unexplained.
  CriticalPath(const PathGraph& graph, const PathSteps& steps, std::span<const std::int64_t> times,
               std::span<const std::int64_t> lengths);

  /// Calls `give` for the parts of the path of each chosen step, from its end to its start.
  void for_each_piece(const std::function<void(const PathPiece&)>& give) const;

  /// How much later a point could be without a step being longer; INT64_MAX: any time.
  std::int64_t slack_ns(PathNode node) const { return slack_[node]; }

 private:
  std::int64_t arrival(const PathEdge& edge) const {
    return bounded_sum(times_[edge.from],
                       lengths_[static_cast<std::size_t>(&edge - graph_.edges().data())]);
  }
  void find_causes();
  void find_slack();
  std::vector<TimeRange> step_times() const;
  PathNode last_of(std::size_t step) const;

  const PathGraph& graph_;
  const PathSteps& steps_;
  std::span<const std::int64_t> times_;
  std::span<const std::int64_t> lengths_;
  std::vector<TimeRange> windows_;      // by step
  std::vector<const PathEdge*> cause_;  // by point: what it waited for last
  std::vector<PathNode> last_;          // by step: the point that it ended with
  std::vector<std::int64_t> slack_;     // by point
};

}  // namespace tbtrace::analyses
