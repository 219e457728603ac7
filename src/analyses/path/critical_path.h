// The critical path of the steps: the chain of work and delays without slack, and by how much what
// is not on it could have been later.
// Plain values; pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analyses/path/graph.h"
#include "analyses/path/replay.h"
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

  /// Calls `give` for the parts of the path of the chosen steps, from the end to the start. Steps
  /// that go on into each other have one path, which need not go through the end of each of them:
  /// the next step does not wait for all that a step did.
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
  void give_path(std::int64_t start, const StepSpan& end,
                 const std::function<void(const PathPiece&)>& give) const;
  /// Whether a step goes on into the next one: that begins where this one ends.
  bool goes_on(std::size_t step) const {
    return step + 1 < spans_.size() && spans_[step].time.end == spans_[step + 1].time.start;
  }

  const PathGraph& graph_;
  const PathSteps& steps_;
  std::span<const std::int64_t> times_;
  std::span<const std::int64_t> lengths_;
  std::vector<StepSpan> spans_;         // by step
  std::vector<const PathEdge*> cause_;  // by point: what it waited for last
  std::vector<std::int64_t> slack_;     // by point
};

}  // namespace tbtrace::analyses
