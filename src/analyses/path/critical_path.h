// The critical path of the steps: the chain of work and delays without slack, and by how much what
// is not on it could have been later.
// Plain values; pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyses/path/graph.h"
#include "analyses/path/net.h"
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

/// The steps that a path goes through.
struct PathTargets {
  struct End {
    PathNode node = kNoNode;
    std::uint32_t step = 0;
  };
  std::vector<StepSpan> spans;  ///< by step
  std::vector<bool> is_chosen;
  std::vector<End> ends;  ///< what belongs to a step, which is not over before
};
PathTargets path_targets(const PathGraph& graph, const PathSteps& steps,
                         std::span<const std::int64_t> times);

class CriticalPath {
 public:
  /// `times` of all points, and `lengths` of all edges: with the recorded times, what is longer
  /// than an edge explains is unexplained. Refers to all but the targets.
  CriticalPath(const PathNet& net, PathTargets targets, std::span<const std::int64_t> times,
               std::span<const std::int64_t> lengths);

  /// The parts of the path of the chosen steps, from the end to the start. Steps that go on into
  /// each other have one path, which need not go through the end of each of them: the next step
  /// does not wait for all that a step did.
  std::vector<PathPiece> pieces() const;

  /// By point: how much later it could be without a step being longer; INT64_MAX: any time.
  std::span<const std::int64_t> slack_ns() const { return slack_; }

 private:
  std::int64_t arrival(const PathEdge& edge) const {
    return bounded_sum(times_[edge.from], lengths_[net_.number_of(edge)]);
  }
  void find_causes();
  void find_slack();
  void add_path(std::int64_t start, const StepSpan& end, std::vector<PathPiece>& pieces) const;
  /// Whether a step goes on into the next one: that begins where this one ends.
  bool goes_on(std::size_t step) const {
    return step + 1 < targets_.spans.size() &&
           targets_.spans[step].time.end == targets_.spans[step + 1].time.start;
  }

  const PathNet& net_;
  const PathTargets targets_;
  std::span<const std::int64_t> times_;
  std::span<const std::int64_t> lengths_;
  std::vector<const PathEdge*> cause_;  // by point: what it waited for last
  std::vector<std::int64_t> slack_;     // by point
};

}  // namespace tbtrace::analyses
