// Which steps of an engine belong together, and their sums.
#include <algorithm>
#include <cstddef>
#include <map>
#include <unordered_map>
#include <utility>

#include <tbtrace/kernels.h>
#include <tbtrace/serving.h>

#include "analyses/attribution/open_steps.h"
#include "analyses/kernels/names.h"
#include "analyses/steps/inferred.h"
#include "analyses/steps/iteration_facts.h"
#include "analyses/steps/step_launches.h"
#include "base/bounded_sum.h"
#include "base/quantile.h"
#include "base/share.h"
#include "trace/links.h"
#include "trace/step_names.h"

namespace tbtrace {
namespace {

using analyses::IterationFacts;
using analyses::IterationKind;

/// The longest run of at least six steps with nearly as many requests as any step has.
std::optional<std::pair<std::size_t, std::size_t>> steady_run(
    const std::vector<IterationFacts>& facts) {
  std::int64_t most = 0;
  for (const IterationFacts& step : facts) most = std::max(most, step.requests.value_or(0));
  for (const double share : {0.9, 0.8}) {
    std::pair<std::size_t, std::size_t> longest;
    std::size_t first = 0;
    for (std::size_t step = 0; step < facts.size(); ++step) {
      const auto requests = static_cast<double>(facts[step].requests.value_or(0));
      if (requests < share * static_cast<double>(most)) first = step + 1;
      if (step + 1 - first > longest.second - longest.first) longest = {first, step + 1};
    }
    constexpr std::size_t kLeast = 6;
    if (most > 0 && longest.second - longest.first >= kLeast) return longest;
  }
  return std::nullopt;
}

/// Where each step of the profiler has one iteration, its range is the step: the profiler's steps
/// follow each other without a gap. What else was launched in a step of the profiler, as by
/// sampling, is of its iteration.
std::vector<StepTime> steps_of_iterations(const Trace& trace, const StepBreakdown& breakdown) {
  std::vector<StepTime> steps = breakdown.steps;
  if (has_engine_steps(trace)) return steps;
  const std::vector<EventId> iterations = analyses::engine_iterations(trace);
  const Events& events = trace.events();
  const auto start_of = [&](EventId event) { return events.start_ns(event); };
  std::unordered_map<std::int64_t, std::int64_t> ends;  // of work, by number of the step
  const analyses::StepOfEvent step_of(trace);
  for (const DeviceLink& link : links_of(trace).placed_work()) {
    const std::optional<std::int64_t> step = step_of.of(link.activity);
    if (!step) continue;
    std::int64_t& end = ends.try_emplace(*step, events.end_ns(link.activity)).first->second;
    end = std::max(end, events.end_ns(link.activity));
  }
  std::int64_t before = steps.front().start_ns;
  for (StepTime& step : steps) {
    const auto first = std::ranges::lower_bound(iterations, step.host_start_ns, {}, start_of);
    const auto end = std::ranges::lower_bound(iterations, step.host_end_ns, {}, start_of);
    if (end - first != 1) return breakdown.steps;
    const auto work = ends.find(step.number);
    step.host_start_ns = events.start_ns(*first);
    step.host_end_ns = events.end_ns(*first);
    step.end_ns = std::max(step.host_end_ns, before);
    if (work != ends.end()) step.end_ns = std::max(step.end_ns, work->second);
    // As of every step: never shorter than its part on the host.
    step.start_ns =
        std::min(std::max(step.host_start_ns, before), step.end_ns - step.host_duration_ns());
    for (std::int64_t& ns : step.busy_ns) ns = std::min(ns, step.duration_ns());
    before = step.end_ns;
  }
  return steps;
}

/// Rows in the making.
class Phases {
 public:
  Phases(const Trace& trace, const std::vector<StepTime>& steps,
         const std::vector<IterationFacts>& facts, bool by_batch)
      : trace_(trace), steps_(steps), facts_(facts), by_batch_(by_batch) {}

  void add_steps(std::size_t first, std::size_t end, const std::optional<StepRange>& chosen) {
    for (std::size_t step = first; step < end; ++step) {
      if (!chosen || chosen->contains(steps_[step].number)) add(step);
    }
  }

  /// Launches and kernels of the steps.
  void add_work() {
    for (const auto& [number, launches] : analyses::step_launches(trace_)) {
      const auto found = phase_of_.find(number);
      if (found == phase_of_.end()) continue;
      found->second->row.launches += launches.count;
      add_bounded(found->second->row.launch_ns, launches.ns);
    }
    const analyses::StepOfEvent steps(trace_);
    for (const DeviceLink& link : links_of(trace_).placed_work()) {
      if (trace_.kind(link.activity) != EventKind::kernel) continue;
      const std::optional<std::int64_t> step = steps.of(link.activity);
      const auto found = step ? phase_of_.find(*step) : phase_of_.end();
      if (found == phase_of_.end()) continue;
      Phase& phase = *found->second;
      const Events& events = trace_.events();
      const std::int64_t ns = events.duration_ns(link.activity);
      add_bounded(phase.kernels[events.name(link.activity)], ns);
      add_bounded(phase.row.kernels_total_ns, ns);
    }
  }

  std::vector<ServingPhase> finish() {
    std::vector<ServingPhase> rows;
    for (auto& [key, phase] : phases_) {
      ServingPhase& row = phase.row;
      row.steps = phase.durations.size();
      std::ranges::sort(phase.durations);
      row.duration_median_ns = median_of(phase.durations);
      row.duration_p90_ns = quantile(phase.durations, 0.9);
      row.duration_p99_ns = quantile(phase.durations, 0.99);
      if (!phase.gaps.empty()) row.gap_median_ns = median_of(std::move(phase.gaps));
      row.host_median_ns = median_of(std::move(phase.hosts));
      const auto most = std::ranges::max_element(phase.kernels, {}, [&](const auto& kernel) {
        return std::pair(kernel.second, trace_.string(kernel.first));
      });
      if (most != phase.kernels.end()) {
        row.kernel = analyses::short_kernel_name(trace_.string(most->first));
        row.kernel_total_ns = most->second;
      }
      rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  struct Phase {
    ServingPhase row;
    std::vector<std::int64_t> durations;
    std::vector<std::int64_t> gaps;
    std::vector<std::int64_t> hosts;
    std::unordered_map<StringId, std::int64_t> kernels;  // time by name
  };
  using Key = std::pair<IterationKind, std::optional<std::int64_t>>;

  void add(std::size_t number) {
    const StepTime& step = steps_[number];
    const IterationFacts& facts = facts_[number];
    const Key key = {facts.kind, by_batch_ ? facts.requests : std::nullopt};
    const auto [found, is_new] = phases_.try_emplace(key);
    Phase& phase = found->second;
    phase_of_[step.number] = &phase;
    ServingPhase& row = phase.row;
    if (is_new) {
      row.kind = iteration_kind_name(facts.kind);
      row.requests = key.second;
      row.tokens = 0;
    }
    if (row.tokens && facts.tokens) add_bounded(*row.tokens, *facts.tokens);
    if (!facts.tokens) row.tokens.reset();
    row.padded_requests = std::max(row.padded_requests, facts.padded_requests);
    phase.durations.push_back(step.duration_ns());
    phase.hosts.push_back(step.host_duration_ns());
    if (number > 0) {
      const std::int64_t gap = step.start_ns - steps_[number - 1].end_ns;
      phase.gaps.push_back(std::max<std::int64_t>(gap, 0));
      add_bounded(row.gap_ns, phase.gaps.back());
    }
    add_bounded(row.duration_ns, step.duration_ns());
    WideInteger busy = 0;
    for (const std::int64_t ns : step.busy_ns) busy += ns;
    const auto devices = std::max<std::size_t>(step.busy_ns.size(), 1);
    add_bounded(row.kernel_ns, bounded(busy / static_cast<WideInteger>(devices)));
    add_bounded(row.communication_ns, step.ns(StepRole::communication));
  }

  const Trace& trace_;
  const std::vector<StepTime>& steps_;
  const std::vector<IterationFacts>& facts_;
  const bool by_batch_;
  std::map<Key, Phase> phases_;
  std::unordered_map<std::int64_t, Phase*> phase_of_;  // by number of a step that was taken
};

}  // namespace

std::optional<double> ServingPhase::tokens_per_s() const {
  const double time_ns = static_cast<double>(duration_ns) + static_cast<double>(gap_ns);
  if (!tokens || time_ns == 0) return std::nullopt;
  return static_cast<double>(*tokens) * 1e9 / time_ns;
}

double ServingPhase::gpu_utilization() const { return share(kernel_ns, duration_ns); }

ServingPhases serving_phases(const Trace& trace, const StepBreakdown& breakdown,
                             const ServingOptions& options) {
  ServingPhases result;
  if (!breakdown.has_steps()) return result;
  if (!has_engine_steps(trace) && analyses::engine_iterations(trace).empty()) return result;
  const std::vector<IterationFacts> facts = analyses::facts_of_steps(trace, breakdown.steps);
  result.steps = breakdown.steps.size();
  std::pair<std::size_t, std::size_t> taken = {0, facts.size()};
  if (const auto run = options.only_steady ? steady_run(facts) : std::nullopt) {
    taken = *run;
    result.steady =
        StepRange{breakdown.steps[taken.first].number, breakdown.steps[taken.second - 1].number};
  }
  const std::vector<StepTime> steps = steps_of_iterations(trace, breakdown);
  Phases phases(trace, steps, facts, options.by_batch);
  phases.add_steps(taken.first, taken.second, options.steps);
  phases.add_work();
  result.phases = phases.finish();
  return result;
}

ServingPhases serving_phases(const Trace& trace, const ServingOptions& options) {
  return serving_phases(trace, step_breakdown(trace), options);
}

}  // namespace tbtrace
