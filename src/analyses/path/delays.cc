#include "analyses/path/delays.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "trace/call_tree.h"

namespace tbtrace::analyses {
namespace {

/// The edge of a kind among those to a point; of several, the one that begins last.
const PathEdge* edge_of(const PathGraph& graph, PathNode node, EdgeKind kind) {
  const PathEdge* last = nullptr;
  for (const PathEdge& edge : graph.edges_to(node)) {
    if (edge.kind != kind) continue;
    if (last == nullptr || graph.time(edge.from) > graph.time(last->from)) last = &edge;
  }
  return last;
}

}  // namespace

PathDelays::PathDelays(const Trace& trace, const PathGraph& graph, const PathSteps& steps)
    : steps_(steps.steps.size()) {
  step_of_.resize(graph.size(), static_cast<std::uint32_t>(steps_));
  for (PathNode node = 0; node < graph.size(); ++node) {
    const std::uint32_t step = steps.at(graph.time(node));
    if (step != kNoStep) step_of_[node] = step;
  }
  ns_.resize(graph.groups() * (steps_ + 1), 0);
  std::vector<std::int64_t> least(graph.groups(), INT64_MAX);
  std::vector<EdgeKind> kinds(graph.groups(), EdgeKind::thread);
  for (const PathEdge& edge : graph.edges()) {
    if (is_work(edge.kind)) continue;
    least[edge.group] = std::min(least[edge.group], graph.recorded_ns(edge));
    kinds[edge.group] = edge.kind;
  }
  // Whether work waited for its stream depends on how long launches take, and so on.
  for (const EdgeKind kind :
       {EdgeKind::launch, EdgeKind::stream, EdgeKind::stream_wait, EdgeKind::room, EdgeKind::call,
        EdgeKind::synchronization, EdgeKind::full_queue}) {
    Samples samples(graph.groups());
    add_typical(graph, kind, samples);
    if (kind == EdgeKind::call) add_other_calls(trace, graph, steps, samples);
    // Of groups of which each one had another cause, those of the other groups; it took no longer
    // than that. If all had, what is recorded is not a delay, and none is taken for granted.
    std::vector<std::int64_t> all;
    for (std::uint32_t group = 0; group < graph.groups(); ++group) {
      if (kinds[group] != kind) continue;
      for (const Sample& sample : samples[group]) all.push_back(sample.ns);
    }
    std::ranges::sort(all);
    const std::int64_t otherwise = all.empty() ? 0 : all[all.size() / 2];
    for (std::uint32_t group = 0; group < graph.groups(); ++group) {
      if (kinds[group] != kind) continue;
      set(group, std::move(samples[group]),
          kind == EdgeKind::call ? 0 : std::min(least[group], otherwise));
    }
  }
}

void PathDelays::add_typical(const PathGraph& graph, EdgeKind kind, Samples& samples) const {
  for (PathNode node = 0; node < graph.size(); ++node) {
    const PathEdge* const edge = edge_of(graph, node, kind);
    if (edge == nullptr) continue;
    const std::int64_t begins = graph.time(edge->from);
    bool is_typical = true;
    for (const PathEdge& other : graph.edges_to(node)) {
      if (&other == edge) continue;
      switch (kind) {
        case EdgeKind::launch:  // the stream was idle
        case EdgeKind::call:    // what it waits for had happened
          is_typical =
              is_typical && other.kind != EdgeKind::batch && graph.time(other.from) <= begins;
          break;
        case EdgeKind::stream:
          is_typical = is_typical && other.kind != EdgeKind::stream_wait &&
                       other.kind != EdgeKind::room && arrival(graph, other) <= begins;
          break;
        case EdgeKind::room:
        case EdgeKind::stream_wait:
          is_typical = is_typical && (other.kind == kind || arrival(graph, other) <= begins);
          break;
        default:  // the call would have returned before
          is_typical =
              is_typical && (other.kind != EdgeKind::call || arrival(graph, other) < begins);
          break;
      }
    }
    const bool has_launch = edge_of(graph, node, EdgeKind::launch) != nullptr;
    if (kind == EdgeKind::stream && !has_launch) is_typical = false;
    if (is_typical) samples[edge->group].push_back({graph.recorded_ns(*edge), step_of_[node]});
  }
}

/// Calls of the same names that waited for nothing.
void PathDelays::add_other_calls(const Trace& trace, const PathGraph& graph, const PathSteps& steps,
                                 Samples& samples) const {
  std::unordered_map<StringId, std::uint32_t> groups;
  std::unordered_set<EventId> waiting;
  for (const PathEdge& edge : graph.edges()) {
    if (edge.kind != EdgeKind::call) continue;
    const auto call = static_cast<EventId>(edge.subject);
    groups.emplace(trace.events().name(call), edge.group);
    waiting.insert(call);
  }
  if (groups.empty()) return;
  for (const EventId event : call_tree_of(trace).ranges()) {
    const auto group = groups.find(trace.events().name(event));
    if (group == groups.end() || waiting.contains(event)) continue;
    const std::uint32_t step = steps.at(trace.events().start_ns(event));
    samples[group->second].push_back({trace.events().duration_ns(event),
                                      step == kNoStep ? static_cast<std::uint32_t>(steps_) : step});
  }
}

void PathDelays::set(std::uint32_t group, std::vector<Sample> samples, std::int64_t otherwise) {
  const auto put = [&](std::size_t step, std::int64_t ns) {
    ns_[group * (steps_ + 1) + step] = ns;
  };
  std::ranges::sort(samples, {}, &Sample::ns);
  const std::int64_t of_all = samples.empty() ? otherwise : samples[samples.size() / 2].ns;
  std::vector<std::vector<std::size_t>> places(steps_ + 1);  // by step, in the order of lengths
  for (std::size_t place = 0; place < samples.size(); ++place) {
    places[samples[place].step].push_back(place);
  }
  for (std::size_t step = 0; step <= steps_; ++step) {
    const std::vector<std::size_t>& own = places[step];
    const std::size_t others = samples.size() - own.size();
    if (others == 0 || step == steps_) {
      put(step, of_all);
      continue;
    }
    // The place of the median among the others, moved by those of the step that come before it.
    std::size_t place = others / 2;
    for (const std::size_t each : own) {
      if (each > place) break;
      ++place;
    }
    put(step, samples[place].ns);
  }
}

}  // namespace tbtrace::analyses
