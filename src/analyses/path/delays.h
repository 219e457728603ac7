// How long it takes from what causes something to what it causes: launches, the next work on a
// stream, the return of a call that waited.
// Owns its figures; made from a PathGraph and valid for it alone. Immutable.
#pragma once

#include <cstdint>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/path/graph.h"
#include "analyses/path/steps.h"

namespace tbtrace::analyses {

/// Edges of a group take equally long: the median of those whose length has no other cause. A step
/// gets the median of the other steps, so that its replay says how well others predict it.
class PathDelays {
 public:
  PathDelays(const Trace& trace, const PathGraph& graph, const PathSteps& steps);

  /// Of an edge that is not work.
  std::int64_t ns(const PathEdge& edge) const {
    return ns_[edge.group * (steps_ + 1) + step_of_[edge.to]];
  }
  /// When an edge lets its end happen, by the recorded time of its start.
  std::int64_t arrival(const PathGraph& graph, const PathEdge& edge) const {
    return is_work(edge.kind) ? graph.time(edge.to) : graph.time(edge.from) + ns(edge);
  }

 private:
  struct Sample {
    std::int64_t ns;
    std::uint32_t step;  // steps_: none
  };
  using Samples = std::vector<std::vector<Sample>>;  // by group

  void add_typical(const PathGraph& graph, EdgeKind kind, Samples& samples) const;
  void set(std::uint32_t group, std::vector<Sample> samples, std::int64_t otherwise);
  void add_other_calls(const Trace& trace, const PathGraph& graph, const PathSteps& steps,
                       Samples& samples) const;

  std::size_t steps_ = 0;
  std::vector<std::uint32_t> step_of_;  // by point; steps_: none
  std::vector<std::int64_t> ns_;        // by group and step
};

}  // namespace tbtrace::analyses
