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

std::vector<std::int64_t> replay(const PathNet& net, std::span<const std::int64_t> lengths) {
  std::vector<std::int64_t> times(net.size(), 0);
  for (const PathNode node : net.in_order()) {
    const std::span<const PathEdge> edges = net.edges_to(node);
    if (edges.empty()) {
      times[node] = net.time(node);
      continue;
    }
    std::int64_t time = -kFarthestNs;
    for (const PathEdge& edge : edges) {
      time = std::max(time, bounded_sum(times[edge.from], lengths[net.number_of(edge)]));
    }
    times[node] = std::min(time, kFarthestNs - 1);
  }
  return times;
}

std::vector<StepSpan> step_spans(const PathGraph& graph, const PathSteps& steps,
                                 std::span<const std::int64_t> times) {
  std::vector<StepSpan> spans(steps.steps.size());
  for (std::size_t step = 0; step < spans.size(); ++step) {
    spans[step].last = graph.host_ends()[step][1];
  }
  for (std::uint32_t work = 0; work < graph.work().size(); ++work) {
    if (steps.of_work[work] == kNoStep) continue;
    PathNode& last = spans[steps.of_work[work]].last;
    if (times[PathGraph::end_of(work)] > times[last]) last = PathGraph::end_of(work);
  }
  if (spans.empty()) return spans;
  std::int64_t before = steps.before ? times[PathGraph::end_of(*steps.before)] : -kFarthestNs;
  for (std::size_t step = 0; step < spans.size(); ++step) {
    const std::int64_t start = std::max(times[graph.host_ends()[step][0]], before);
    // What ends before the step before is not what comes after it waits for.
    if (step > 0 && times[spans[step].last] < start && start == before) {
      spans[step].last = spans[step - 1].last;
    }
    before = std::max(start, times[spans[step].last]);
    spans[step].time = {start, before};
  }
  return spans;
}

}  // namespace tbtrace::analyses
