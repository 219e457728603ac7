// A recording played again: when everything would have happened if work took as long as given, and
// what causes it as long as in other steps.
// Plain values; pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyses/path/changes.h"
#include "analyses/path/delays.h"
#include "analyses/path/graph.h"
#include "analyses/path/steps.h"
#include "base/time_ranges.h"

namespace tbtrace::analyses {

/// The length of each edge, in the order of PathGraph::edges().
std::vector<std::int64_t> replay_lengths(const PathGraph& graph, const PathDelays& delays,
                                         const PathChanges& changes = {});

/// The time of each point. Points that nothing leads to happen when they did.
std::vector<std::int64_t> replay(const PathNet& net, std::span<const std::int64_t> lengths);

/// When a step was, by the times of all points.
struct StepSpan {
  /// From where it begins on the host, or the step before ends if that is later, to where its last
  /// work ends: what two steps have in common is in the first one alone.
  TimeRange time;
  PathNode last = kNoNode;  ///< the point that it ends with
};
std::vector<StepSpan> step_spans(const PathGraph& graph, const PathSteps& steps,
                                 std::span<const std::int64_t> times);

}  // namespace tbtrace::analyses
