// A recording played again: when everything would have happened if work took as long as given, and
// what causes it as long as in other steps.
// Plain values; pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analyses/path/changes.h"
#include "analyses/path/delays.h"
#include "analyses/path/graph.h"
#include "analyses/path/steps.h"

namespace tbtrace::analyses {

/// The length of each edge, in the order of PathGraph::edges().
std::vector<std::int64_t> replay_lengths(const PathGraph& graph, const PathDelays& delays,
                                         const PathChanges& changes = {});

/// The time of each point. Points that nothing leads to happen when they did.
std::vector<std::int64_t> replay(const PathGraph& graph, std::span<const std::int64_t> lengths);

/// How long each step took, by the times of all points; with the recorded ones as in the table
/// steps.
std::vector<std::int64_t> step_durations(const PathGraph& graph, const PathSteps& steps,
                                         std::span<const std::int64_t> times);

}  // namespace tbtrace::analyses
