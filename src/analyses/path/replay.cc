#include "analyses/path/replay.h"

#include <algorithm>

#include "base/bounded_sum.h"
#include "trace/times.h"

namespace tbtrace::analyses {

std::vector<std::int64_t> replay_lengths(const PathGraph& graph, const PathDelays& delays,
                                         const PathChanges& changes) {
  std::vector<std::int64_t> lengths;
  lengths.reserve(graph.edges().size());
  for (const PathEdge& edge : graph.edges()) {
    const std::int64_t ns = is_work(edge.kind) ? graph.recorded_ns(edge) : delays.ns(edge);
    lengths.push_back(changes.changed_ns(graph, edge, ns));
  }
  return lengths;
}

std::vector<std::int64_t> replay(const PathGraph& graph, std::span<const std::int64_t> lengths) {
  std::vector<std::int64_t> times(graph.size(), 0);
  const PathEdge* const first = graph.edges().data();
  for (const PathNode node : graph.in_order()) {
    const std::span<const PathEdge> edges = graph.edges_to(node);
    if (edges.empty()) {
      times[node] = graph.time(node);
      continue;
    }
    std::int64_t time = -kFarthestNs;
    for (const PathEdge& edge : edges) {
      time = std::max(
          time, bounded_sum(times[edge.from], lengths[static_cast<std::size_t>(&edge - first)]));
    }
    times[node] = std::min(time, kFarthestNs - 1);
  }
  return times;
}

std::vector<std::int64_t> step_durations(const PathGraph& graph, const PathSteps& steps,
                                         std::span<const std::int64_t> times) {
  std::vector<std::int64_t> ends(steps.steps.size(), INT64_MIN);
  for (std::uint32_t work = 0; work < graph.work().size(); ++work) {
    if (steps.of_work[work] == kNoStep) continue;
    std::int64_t& end = ends[steps.of_work[work]];
    end = std::max(end, times[PathGraph::end_of(work)]);
  }
  std::vector<std::int64_t> durations;
  std::int64_t before = -kFarthestNs;  // the end of the step before
  if (!steps.steps.empty()) {
    // The first step begins later on the device if that still had work of before.
    const PathStep& first = steps.steps.front();
    before = bounded_sum(times[graph.host_ends().front()[0]],
                         std::max<std::int64_t>(0, first.time.start - first.host.start));
  }
  for (std::size_t step = 0; step < steps.steps.size(); ++step) {
    const std::int64_t host_start = times[graph.host_ends()[step][0]];
    const std::int64_t host_end = times[graph.host_ends()[step][1]];
    std::int64_t start = std::max(host_start, before);
    const std::int64_t end = std::max({host_end, start, ends[step]});
    start = std::min(start, bounded_sum(end, -(host_end - host_start)));
    durations.push_back(bounded(WideInteger{end} - start));
    before = end;
  }
  return durations;
}

}  // namespace tbtrace::analyses
