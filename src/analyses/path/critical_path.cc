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

CriticalPath::CriticalPath(const PathGraph& graph, const PathSteps& steps,
                           std::span<const std::int64_t> times,
                           std::span<const std::int64_t> lengths)
    : graph_(graph), steps_(steps), times_(times), lengths_(lengths) {
  find_causes();
  const std::vector<std::int64_t> durations = step_durations(graph, steps, times);
  last_.resize(steps.steps.size());
  for (std::size_t step = 0; step < steps.steps.size(); ++step) {
    last_[step] = graph.host_ends()[step][1];
  }
  for (std::uint32_t work = 0; work < graph.work().size(); ++work) {
    if (steps.of_work[work] == kNoStep) continue;
    PathNode& last = last_[steps.of_work[work]];
    if (times[PathGraph::end_of(work)] > times[last]) last = PathGraph::end_of(work);
  }
  for (std::size_t step = 0; step < steps.steps.size(); ++step) {
    const std::int64_t end = times[last_[step]];
    windows_.push_back({bounded_sum(end, -durations[step]), end});
  }
  find_slack();
}

void CriticalPath::find_causes() {
  cause_.resize(graph_.size(), nullptr);
  // Lengths vary, and what was found by time may be wrong: the cause is what fits best.
  for (PathNode node = 0; node < graph_.size(); ++node) {
    const auto distance = [&](const PathEdge& edge) {
      const WideInteger away = WideInteger{arrival(edge)} - times_[node];
      return std::pair(away < 0 ? -away : away, -times_[edge.from]);
    };
    for (const PathEdge& edge : graph_.edges_to(node)) {
      if (cause_[node] == nullptr || distance(edge) < distance(*cause_[node])) cause_[node] = &edge;
    }
  }
}

void CriticalPath::find_slack() {
  slack_.resize(graph_.size(), INT64_MAX);
  const auto limit = [&](PathNode node, std::int64_t ns) {
    slack_[node] = std::min(slack_[node], std::max<std::int64_t>(ns, 0));
  };
  for (std::size_t step = 0; step < steps_.steps.size(); ++step) {
    const PathNode host_end = graph_.host_ends()[step][1];
    limit(host_end, windows_[step].end - times_[host_end]);
  }
  for (std::uint32_t work = 0; work < graph_.work().size(); ++work) {
    if (steps_.of_work[work] == kNoStep) continue;
    const PathNode end = PathGraph::end_of(work);
    limit(end, windows_[steps_.of_work[work]].end - times_[end]);
  }
  const std::span<const PathNode> order = graph_.in_order();
  for (std::size_t at = order.size(); at-- > 0;) {
    const PathNode node = order[at];
    if (slack_[node] == INT64_MAX) continue;
    for (const PathEdge& edge : graph_.edges_to(node)) {
      const WideInteger more =
          &edge == cause_[node] ? 0 : WideInteger{times_[node]} - arrival(edge);
      limit(edge.from, bounded(slack_[node] + std::max<WideInteger>(more, 0)));
    }
  }
}

void CriticalPath::for_each_piece(const std::function<void(const PathPiece&)>& give) const {
  for (std::uint32_t step = 0; step < steps_.steps.size(); ++step) {
    if (!steps_.is_chosen(step)) continue;
    const std::int64_t start = windows_[step].start;
    std::int64_t until = windows_[step].end;  // what comes after has been given
    const auto add = [&](const PathEdge* edge, std::int64_t from, bool is_unexplained) {
      from = std::max(from, start);
      if (from >= until) return;
      give({edge, {from, until}, is_unexplained, edge == nullptr ? from : times_[edge->from]});
      until = from;
    };
    PathNode node = last_[step];
    while (until > start) {
      const PathEdge* const cause = cause_[node];
      if (cause == nullptr) {
        add(nullptr, start, true);
        break;
      }
      const std::int64_t begins = times_[cause->from];
      const std::int64_t usual = bounded(WideInteger{arrival(*cause)} - begins);
      if (!is_work(cause->kind) && times_[node] - begins > most_ns(usual)) {
        add(cause, begins + std::max<std::int64_t>(usual, 0), true);
      }
      add(cause, begins, false);
      node = cause->from;
    }
  }
}

}  // namespace tbtrace::analyses
