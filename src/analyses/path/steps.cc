#include "analyses/path/steps.h"

#include <algorithm>

#include "analyses/attribution/open_steps.h"
#include "analyses/steps/selection.h"
#include "analyses/steps/windows.h"
#include "trace/call_tree.h"
#include "trace/links.h"

namespace tbtrace::analyses {
namespace {

/// The thread whose range ends last, for a trace without steps.
TrackId last_thread(const Trace& trace) {
  TrackId thread = {};
  std::int64_t end = INT64_MIN;
  for (const EventId range : call_tree_of(trace).ranges()) {
    if (trace.events().end_ns(range) <= end) continue;
    end = trace.events().end_ns(range);
    thread = trace.events().track(range);
  }
  return thread;
}

}  // namespace

std::uint32_t PathSteps::at(std::int64_t time_ns) const {
  const auto next = std::ranges::partition_point(
      steps, [&](const PathStep& step) { return step.time.end < time_ns; });
  if (next == steps.end() || next->time.start > time_ns) return kNoStep;
  return static_cast<std::uint32_t>(next - steps.begin());
}

Result<PathSteps> path_steps(const Trace& trace, const StepRules& rules,
                             const std::optional<StepRange>& chosen) {
  const std::span<const DeviceLink> work = links_of(trace).placed_work();
  const StepWindows windows = step_windows(trace, rules, work, StepChoice::complete);
  PathSteps found;
  found.chosen = chosen;
  found.of_work.resize(work.size(), kNoStep);
  std::vector<Step> with_range;
  std::optional<StepRange> existing;
  bool any = false;
  for (const StepWindow& window : windows.steps) {
    const bool is_all = window.step.event == EventId::none;
    PathStep step = {window.step, window.time, window.time, {}};
    if (is_all) {
      step.thread = last_thread(trace);
    } else {
      step.host = {rules.start_ns(window.step.event), rules.end_ns(window.step.event)};
      step.thread = trace.events().track(window.step.event);
      with_range.push_back(window.step);
      const std::int64_t number = window.step.number;
      if (!existing) existing = StepRange{number, number};
      existing = StepRange{std::min(existing->first, number), std::max(existing->last, number)};
      any = any || !chosen || chosen->contains(number);
    }
    // Steps of several threads may overlap; a time belongs to one step.
    if (!found.steps.empty() && step.time.start < found.steps.back().time.end) {
      step.time.start = std::min(found.steps.back().time.end, step.time.end);
    }
    found.steps.push_back(step);
  }
  if (chosen && !any) return no_such_steps(*chosen, existing);
  if (with_range.empty()) {
    if (!found.steps.empty()) std::ranges::fill(found.of_work, 0U);
    for (const DeviceLink& link : work) {
      if (found.steps.empty()) break;
      std::int64_t& end = found.steps.front().time.end;
      end = std::max(end, trace.events().end_ns(link.activity));
    }
    return found;
  }
  const PathStep& first = found.steps.front();
  for (std::uint32_t number = 0; number < work.size() && first.time.start > first.host.start;
       ++number) {
    const bool is_last = trace.events().end_ns(work[number].activity) == first.time.start;
    if (is_last) found.before = number;
  }
  const OpenSteps open(trace, with_range);
  for (std::size_t number = 0; number < work.size(); ++number) {
    const EventId range = launching_range(work[number]);
    const auto step = range == EventId::none ? std::nullopt : open.at_start_of(range);
    if (step) found.of_work[number] = static_cast<std::uint32_t>(*step);
  }
  return found;
}

}  // namespace tbtrace::analyses
