#include "analyses/steps/breakdown.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "analyses/steps/devices.h"
#include "analyses/steps/inferred.h"
#include "analyses/steps/phases.h"
#include "analyses/steps/rules.h"
#include "analyses/steps/windows.h"
#include "base/bounded_sum.h"
#include "base/share.h"
#include "base/time_ranges.h"
#include "trace/links.h"
#include "trace/step_names.h"

namespace tbtrace {
namespace {

using analyses::RoleRanges;
using analyses::StepRules;
using analyses::StepWindow;

RoleRanges role_ranges(const Trace& trace, const StepRules& rules) {
  RoleRanges ranges;
  for (const EventId event : trace.by_start()) {
    const std::optional<StepRole> role = rules.role(event);
    if (!role) continue;
    add_range(ranges[static_cast<std::size_t>(*role)],
              {rules.start_ns(event), rules.end_ns(event)});
  }
  return ranges;
}

std::vector<TimeRange> time_of_steps(std::span<const StepTime> steps) {
  std::vector<TimeRange> all;
  for (const StepTime& step : steps) all.push_back({step.start_ns, step.end_ns});
  std::ranges::sort(all, {}, &TimeRange::start);
  std::vector<TimeRange> time;
  for (const TimeRange& each : all) add_range(time, each);
  return time;
}

void share_time(std::vector<StepTime>& steps, const Trace& trace, const StepRules& rules) {
  const RoleRanges parts = rules.policy().divided(role_ranges(trace, rules), time_of_steps(steps));
  for (std::size_t role = 0; role < parts.size(); ++role) {
    const RangeLengths lengths(parts[role]);
    for (StepTime& step : steps) {
      step.role_ns[role] = lengths.within({step.start_ns, step.end_ns});
    }
  }
}

StepTime named_step(const Trace& trace, const StepWindow& window) {
  StepTime step;
  const bool all = window.step.event == EventId::none;
  step.name = all ? "[all]" : std::string(trace.name(window.step.event));
  step.number = window.step.number;
  step.start_ns = window.time.start;
  step.end_ns = window.time.end;
  step.host_start_ns = all ? step.start_ns : trace.events().start_ns(window.step.event);
  step.host_end_ns = all ? step.end_ns : trace.events().end_ns(window.step.event);
  step.launched = window.launched;
  return step;
}

/// Why a trace without ProfilerStep#N has no steps.
std::string why_no_steps(const Trace& trace, bool inferred) {
  if (inferred) return analyses::nothing_inferred(trace);
  const std::vector<Step> steps = analyses::inferred_steps(trace);
  if (steps.empty()) return {};
  return "Steps can be inferred: there " +
         (steps.size() == 1 ? std::string("is 1") : "are " + std::to_string(steps.size())) +
         ", such as `" + std::string(trace.name(steps.front().event)) + "`.";
}

void keep_steps(analyses::StepWindows& windows, const StepRules& rules, const StepRange& chosen) {
  const auto is_other = [&](const Step& step) {
    return step.event == EventId::none || !chosen.contains(step.number);
  };
  std::erase_if(windows.steps, [&](const StepWindow& window) { return is_other(window.step); });
  std::erase_if(windows.unfinished, is_other);
  const std::vector<Step> all = rules.steps();
  windows.dropped = all.size() - static_cast<std::size_t>(std::ranges::count_if(all, is_other)) -
                    windows.steps.size() - windows.unfinished.size();
}

template <typename Value>
double mean(std::span<const StepTime> steps, Value value) {
  WideInteger sum = 0;
  for (const StepTime& step : steps) sum += value(step);
  return mean_of_sum(sum, steps.size());
}

}  // namespace

std::int64_t StepTime::unphased_ns() const {
  return std::accumulate(phase_ns.begin(), phase_ns.end(), host_duration_ns(), std::minus<>());
}

double StepTime::utilization(std::size_t device) const {
  return share(busy_ns[device], duration_ns());
}

double StepBreakdown::mean_ns(StepRole role) const {
  return mean(steps, [role](const StepTime& step) { return step.ns(role); });
}

double StepBreakdown::mean_ns(StepPhase phase) const {
  return mean(steps, [phase](const StepTime& step) { return step.ns(phase); });
}

double StepBreakdown::mean_duration_ns() const {
  return mean(steps, [](const StepTime& step) { return step.duration_ns(); });
}

double StepBreakdown::mean_host_duration_ns() const {
  return mean(steps, [](const StepTime& step) { return step.host_duration_ns(); });
}

double StepBreakdown::mean_unphased_ns() const {
  return mean(steps, [](const StepTime& step) { return step.unphased_ns(); });
}

double StepBreakdown::utilization(std::size_t device) const {
  if (steps.empty()) return 0;
  return share(busy_ns[device], steps.back().end_ns - steps.front().start_ns);
}

StepBreakdown analyses::breakdown_by(const Trace& trace, const StepPolicy& policy,
                                     std::span<const DeviceLink> work,
                                     const StepBreakdownOptions& options) {
  const StepRules rules(trace, policy,
                        options.infer_steps ? inferred_steps(trace) : std::vector<Step>{});
  StepBreakdown breakdown;
  StepWindows windows = step_windows(
      trace, rules, work, options.keep_tail_steps ? StepChoice::finished : StepChoice::complete);
  if (options.steps) keep_steps(windows, rules, *options.steps);
  breakdown.dropped_steps = windows.dropped;
  for (const Step& step : windows.unfinished) {
    breakdown.unfinished_steps.push_back({std::string(trace.name(step.event)), step.number,
                                          trace.events().start_ns(step.event),
                                          trace.events().end_ns(step.event)});
  }
  breakdown.steps.reserve(windows.steps.size());
  for (const StepWindow& window : windows.steps) {
    breakdown.steps.push_back(named_step(trace, window));
  }
  const bool has_steps =
      !breakdown.steps.empty() && windows.steps.front().step.event != EventId::none;
  if (!has_steps && (trace.steps().empty() || has_engine_steps(trace))) {
    breakdown.why_no_steps = why_no_steps(trace, options.infer_steps);
  }
  share_time(breakdown.steps, trace, rules);
  add_busy_times(breakdown, trace, rules, work);
  add_memory_peaks(breakdown, trace);
  std::vector<EventId> step_events;
  for (const StepWindow& window : windows.steps) step_events.push_back(window.step.event);
  add_phases(breakdown, trace, step_events);
  return breakdown;
}

StepBreakdown step_breakdown(const Trace& trace, const StepBreakdownOptions& options) {
  return analyses::breakdown_by(trace, analyses::exact_step_policy(), links_of(trace).placed_work(),
                                options);
}

}  // namespace tbtrace
