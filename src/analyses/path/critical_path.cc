#include "analyses/path/critical_path.h"

#include <algorithm>
#include <utility>

#include "analyses/path/replay.h"

namespace tbtrace::analyses {
namespace {

/// How long a delay may be until the part beyond the usual length counts as unexplained.
std::int64_t most_ns(std::int64_t usual_ns) {
  constexpr std::int64_t kNoise = 10'000;
  return bounded(2 * WideInteger{std::max<std::int64_t>(usual_ns, 0)} + kNoise);
}

}  // namespace

PathTargets path_targets(const PathGraph& graph, const PathSteps& steps,
                         std::span<const std::int64_t> times) {
  PathTargets targets;
  targets.spans = step_spans(graph, steps, times);
  for (std::uint32_t step = 0; step < steps.steps.size(); ++step) {
    targets.is_chosen.push_back(steps.is_chosen(step));
    targets.ends.push_back({graph.host_ends()[step][1], step});
  }
  for (std::uint32_t work = 0; work < graph.work().size(); ++work) {
    if (steps.of_work[work] == kNoStep) continue;
    targets.ends.push_back({PathGraph::end_of(work), steps.of_work[work]});
  }
  return targets;
}

CriticalPath::CriticalPath(const PathNet& net, PathTargets targets,
                           std::span<const std::int64_t> times,
                           std::span<const std::int64_t> lengths)
    : net_(net), targets_(std::move(targets)), times_(times), lengths_(lengths) {
  find_causes();
  find_slack();
}

void CriticalPath::find_causes() {
  cause_.resize(net_.size(), nullptr);
  // Lengths vary, and what was found by time may be wrong: the cause is what fits best.
  for (PathNode node = 0; node < net_.size(); ++node) {
    const auto distance = [&](const PathEdge& edge) {
      const WideInteger away = WideInteger{arrival(edge)} - times_[node];
      return std::pair(away < 0 ? -away : away, -times_[edge.from]);
    };
    for (const PathEdge& edge : net_.edges_to(node)) {
      if (cause_[node] == nullptr || distance(edge) < distance(*cause_[node])) cause_[node] = &edge;
    }
  }
}

void CriticalPath::find_slack() {
  slack_.resize(net_.size(), INT64_MAX);
  const auto limit = [&](PathNode node, std::int64_t ns) {
    slack_[node] = std::min(slack_[node], std::max<std::int64_t>(ns, 0));
  };
  // Of a step, or of the last one that it goes on into.
  std::vector<std::int64_t> ends(targets_.spans.size());
  for (std::size_t step = ends.size(); step-- > 0;) {
    ends[step] = goes_on(step) ? ends[step + 1] : targets_.spans[step].time.end;
  }
  for (const auto& [node, step] : targets_.ends) limit(node, ends[step] - times_[node]);
  const std::span<const PathNode> order = net_.in_order();
  for (std::size_t at = order.size(); at-- > 0;) {
    const PathNode node = order[at];
    if (slack_[node] == INT64_MAX) continue;
    for (const PathEdge& edge : net_.edges_to(node)) {
      const WideInteger more =
          &edge == cause_[node] ? 0 : WideInteger{times_[node]} - arrival(edge);
      limit(edge.from, bounded(slack_[node] + std::max<WideInteger>(more, 0)));
    }
  }
}

std::vector<PathPiece> CriticalPath::pieces() const {
  std::vector<PathPiece> all;
  for (std::size_t last = targets_.spans.size(); last-- > 0;) {
    if (!targets_.is_chosen[last]) continue;
    std::size_t first = last;
    while (first > 0 && goes_on(first - 1) && targets_.is_chosen[first - 1]) --first;
    add_path(targets_.spans[first].time.start, targets_.spans[last], all);
    last = first;
  }
  return all;
}

void CriticalPath::add_path(std::int64_t start, const StepSpan& end,
                            std::vector<PathPiece>& pieces) const {
  std::int64_t until = end.time.end;  // what comes after has been given
  const auto add = [&](const PathEdge* edge, std::int64_t from, bool is_unexplained) {
    from = std::max(from, start);
    if (from >= until) return;
    pieces.push_back(
        {edge, {from, until}, is_unexplained, edge == nullptr ? from : times_[edge->from]});
    until = from;
  };
  PathNode node = end.last;
  while (until > start) {
    const PathEdge* const cause = cause_[node];
    if (cause == nullptr) return add(nullptr, start, true);
    const std::int64_t begins = times_[cause->from];
    const std::int64_t usual = bounded(WideInteger{arrival(*cause)} - begins);
    if (!is_work(cause->kind) && times_[node] - begins > most_ns(usual)) {
      add(cause, begins + std::max<std::int64_t>(usual, 0), true);
    }
    add(cause, begins, false);
    node = cause->from;
  }
}

}  // namespace tbtrace::analyses
