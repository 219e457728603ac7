#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/steps.h>

#include "analyses/attribution/idle_threads.h"
#include "analyses/steps/compilation.h"
#include "analyses/steps/iteration_facts.h"
#include "base/bounded_sum.h"
#include "base/quantile.h"
#include "trace/call_tree.h"
#include "trace/self_times.h"
#include "trace/step_names.h"

namespace tbtrace {
namespace {

constexpr std::size_t kFewestSteps = 3;  // of fewer, none is usual

struct TimeInStep {
  StringId name = StringId::empty;
  std::size_t step = 0;
  std::int64_t ns = 0;
};

/// The step that most of a range is in, of the one in which it began and the one after that: a step
/// may begin inside the call that marks it. nullopt if it is in neither.
std::optional<std::size_t> step_of(const std::vector<StepTime>& steps, std::int64_t start,
                                   std::int64_t end) {
  const auto after = std::ranges::upper_bound(steps, start, {}, &StepTime::host_start_ns);
  const auto overlap = [&](auto step) {
    return std::min(end, step->host_end_ns) - std::max(start, step->host_start_ns);
  };
  auto best = steps.end();
  if (after != steps.begin() && start < std::prev(after)->host_end_ns) best = std::prev(after);
  const std::int64_t least = best == steps.end() ? 0 : overlap(best);
  if (after != steps.end() && overlap(after) > least) best = after;
  if (best == steps.end()) return std::nullopt;
  return static_cast<std::size_t>(best - steps.begin());
}

/// Self times of the ranges that ran mostly in a step, by name and step.
std::vector<TimeInStep> times_in_steps(const Trace& trace, const std::vector<StepTime>& steps) {
  std::vector<TimeInStep> times;
  const SelfTimes& self_times = self_times_of(trace);
  const analyses::IdleThreads idle(trace);
  for (const EventId range : call_tree_of(trace).ranges()) {
    const std::optional<std::size_t> step =
        step_of(steps, trace.events().start_ns(range), trace.events().end_ns(range));
    if (!step) continue;
    const std::int64_t ns = self_times.ns(range);
    if (ns == 0 || idle.is_idle(range) || is_step_range(trace.name(range))) continue;
    times.push_back({trace.events().name(range), *step, ns});
  }
  std::ranges::sort(times, {},
                    [](const TimeInStep& time) { return std::pair(time.name, time.step); });
  return times;
}

/// The name whose time in a step is longest above its median over all steps.
void find_range(SlowestStep& found, const Trace& trace, const std::vector<StepTime>& steps,
                std::size_t slowest) {
  const std::vector<TimeInStep> times = times_in_steps(trace, steps);
  std::vector<std::int64_t> by_step(steps.size());
  for (auto first = times.begin(); first != times.end();) {
    const auto end = std::find_if(first, times.end(),
                                  [&](const TimeInStep& time) { return time.name != first->name; });
    std::int64_t in_slowest = 0;
    for (auto time = first; time != end; ++time) {
      if (time->step == slowest) add_bounded(in_slowest, time->ns);
    }
    if (in_slowest > found.range_more_ns) {
      std::ranges::fill(by_step, 0);
      for (auto time = first; time != end; ++time) add_bounded(by_step[time->step], time->ns);
      const std::int64_t more = in_slowest - median_of(by_step);
      const std::string_view name = trace.string(first->name);
      const bool is_first_of_equals = more == found.range_more_ns && name < found.range;
      if (more > found.range_more_ns || is_first_of_equals) {
        found.range = name;
        found.range_more_ns = more;
      }
    }
    first = end;
  }
}

/// The steps that do the same work as most do, and their kind. Those of a draft model do not count:
/// it takes several for each of the target.
std::pair<std::vector<StepTime>, analyses::IterationKind> alike(
    const Trace& trace, const std::vector<StepTime>& steps) {
  const std::vector<analyses::IterationFacts> facts = analyses::facts_of_steps(trace, steps);
  std::map<analyses::IterationGroup, std::size_t> counts;
  for (const analyses::IterationFacts& step : facts) {
    counts[group_of(step)] += step.kind == analyses::IterationKind::draft ? 0 : 1;
  }
  if (counts.size() < 2) return {steps, analyses::IterationKind::unknown};
  const auto most =
      std::ranges::max_element(counts, {}, [](const auto& group) { return group.second; });
  std::vector<StepTime> same;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    if (group_of(facts[step]) == most->first) same.push_back(steps[step]);
  }
  return {std::move(same), most->first.first};
}

}  // namespace

std::optional<SlowestStep> slowest_step(const Trace& trace, const StepBreakdown& breakdown) {
  const auto compared = alike(trace, breakdown.steps);
  const std::vector<StepTime>& steps = compared.first;
  const analyses::IterationKind kind = compared.second;
  if (steps.size() < kFewestSteps) return std::nullopt;
  const auto median = [&](auto&& value_of) {
    std::vector<std::int64_t> values;
    values.reserve(steps.size());
    for (const StepTime& step : steps) values.push_back(value_of(step));
    return median_of(std::move(values));
  };
  const auto slowest = std::ranges::max_element(steps, {}, &StepTime::duration_ns);
  SlowestStep found;
  if (kind != analyses::IterationKind::unknown) found.kind = analyses::iteration_kind_name(kind);
  found.name = slowest->name;
  found.number = slowest->number;
  found.duration_ns = slowest->duration_ns();
  found.median_ns = median([](const StepTime& step) { return step.duration_ns(); });
  for (std::size_t role = 0; role < kStepRoles; ++role) {
    const std::int64_t more =
        slowest->role_ns[role] - median([&](const StepTime& step) { return step.role_ns[role]; });
    if (more <= found.part_more_ns) continue;
    found.part = step_role_name(static_cast<StepRole>(role));
    found.part_more_ns = more;
  }
  find_range(found, trace, steps, static_cast<std::size_t>(slowest - steps.begin()));
  const bool explains_it = found.range_more_ns >= (found.duration_ns - found.median_ns) / 2;
  if (!explains_it) {
    found.range.clear();
    found.range_more_ns = 0;
  }
  const TimeRange host = {slowest->host_start_ns, slowest->host_end_ns};
  found.compilation_ns = analyses::compilation_times(trace, std::span(&host, 1)).front();
  WideInteger others = 0;
  for (const StepTime& step : steps) others += step.duration_ns();
  others -= found.duration_ns;
  found.mean_of_others_ns = static_cast<double>(others) / static_cast<double>(steps.size() - 1);
  return found;
}

}  // namespace tbtrace
