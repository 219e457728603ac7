#include <algorithm>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include <tbtrace/step_breakdown.h>

#include "analyses/inferred_steps.h"
#include "analyses/plugin_launches.h"
#include "analyses/step_devices.h"
#include "analyses/step_phases.h"
#include "analyses/step_rules.h"
#include "analyses/step_windows.h"
#include "analyses/time_ranges.h"
#include "base/share.h"

namespace tbtrace {
namespace {

using analyses::LaunchedWork;
using analyses::StepRules;
using analyses::StepWindow;
using analyses::TimeRange;

constexpr auto kOther = static_cast<std::size_t>(StepRole::other);

/// When at least one event of each role was open on any thread, stream or device.
using RoleRanges = std::array<std::vector<TimeRange>, kStepRoles>;

/// All work, by start. Exact: the trace's links; plugin: the plugin's own matching.
std::vector<LaunchedWork> launched_work(const Trace& trace, StepFigures figures) {
  if (figures == StepFigures::plugin) {
    return analyses::plugin_launches(trace, analyses::plugin_order(trace));
  }
  return analyses::linked_work(trace);
}

RoleRanges role_ranges(const Trace& trace, const StepRules& rules) {
  RoleRanges ranges;
  for (const EventId event : trace.by_start()) {
    const std::optional<StepRole> role = rules.role(event);
    if (!role) continue;
    analyses::add_range(ranges[static_cast<std::size_t>(*role)],
                        {rules.start_ns(event), rules.end_ns(event)});
  }
  return ranges;
}

std::vector<TimeRange> time_of_steps(std::span<const StepTime> steps) {
  std::vector<TimeRange> time;
  for (const StepTime& step : steps) analyses::add_range(time, {step.start_ns, step.end_ns});
  return time;
}

void add_parts(std::vector<StepTime>& steps, std::size_t role, std::span<const TimeRange> taken) {
  const analyses::RangeLengths lengths(taken);
  for (StepTime& step : steps) {
    step.role_ns[role] = lengths.within({step.start_ns, step.end_ns});
  }
}

/// Each role takes its time from what the previous roles left free.
void share_time(std::vector<StepTime>& steps, const Trace& trace, const StepRules& rules) {
  RoleRanges roles = role_ranges(trace, rules);
  const std::vector<TimeRange> all = time_of_steps(steps);
  std::vector<TimeRange> free = all;
  const bool forgets = rules.figures() == StepFigures::plugin;  // once nothing is free
  for (std::size_t role = 0; role < kOther; ++role) {
    std::vector<TimeRange> taken = std::move(roles[role]);
    if (forgets && (role == 0 || free.empty())) {
      free = analyses::difference(all, taken);
    } else {
      taken = analyses::intersection(free, taken);
      free = analyses::difference(free, taken);
    }
    add_parts(steps, role, taken);
  }
  add_parts(steps, kOther, free);
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

/// A sum of many long steps could overflow: adds the quotients, and the remainders separately.
template <typename Value>
double mean(std::span<const StepTime> steps, Value value) {
  if (steps.empty()) return 0;
  const auto count = static_cast<std::int64_t>(steps.size());
  std::int64_t whole = 0;
  std::int64_t left = 0;
  for (const StepTime& step : steps) {
    whole += value(step) / count;
    left += value(step) % count;
  }
  return static_cast<double>(whole) + static_cast<double>(left) / static_cast<double>(count);
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

double StepBreakdown::utilization(std::size_t device) const {
  if (steps.empty()) return 0;
  return share(busy_ns[device], steps.back().end_ns - steps.front().start_ns);
}

StepBreakdown step_breakdown(const Trace& trace, const StepBreakdownOptions& options) {
  const StepRules rules(
      trace, options.figures,
      options.infer_steps ? analyses::inferred_steps(trace) : std::vector<Step>{});
  const std::vector<LaunchedWork> work = launched_work(trace, options.figures);
  StepBreakdown breakdown;
  const analyses::StepWindows windows =
      analyses::step_windows(trace, rules, work, options.keep_tail_steps);
  breakdown.dropped_steps = windows.dropped;
  breakdown.steps.reserve(windows.steps.size());
  for (const StepWindow& window : windows.steps) {
    breakdown.steps.push_back(named_step(trace, window));
  }
  share_time(breakdown.steps, trace, rules);
  analyses::add_busy_times(breakdown, trace, rules, work);
  analyses::add_memory_peaks(breakdown, trace);
  std::vector<EventId> step_events;
  for (const StepWindow& window : windows.steps) step_events.push_back(window.step.event);
  analyses::add_phases(breakdown, trace, step_events);
  return breakdown;
}

}  // namespace tbtrace
