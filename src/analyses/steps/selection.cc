#include "analyses/steps/selection.h"

#include <algorithm>
#include <string>
#include <vector>

#include <tbtrace/steps.h>

#include "analyses/steps/rules.h"
#include "analyses/steps/trace_part.h"
#include "analyses/steps/windows.h"
#include "trace/links.h"

namespace tbtrace {
namespace analyses {
namespace {

std::optional<StepRange> steps_of(const Trace& trace) {
  if (trace.steps().empty()) return std::nullopt;
  const auto [least, most] =
      std::minmax_element(trace.steps().begin(), trace.steps().end(),
                          [](const Step& a, const Step& b) { return a.number < b.number; });
  return StepRange{least->number, most->number};
}

}  // namespace
}  // namespace analyses

std::string steps_text(const StepRange& steps) {
  return steps.first == steps.last
             ? "step " + std::to_string(steps.first)
             : "steps " + std::to_string(steps.first) + " to " + std::to_string(steps.last);
}

Result<Trace> trace_of_steps(const Trace& trace, const StepRange& steps) {
  const Result<std::optional<TimeRange>> host = analyses::host_time_of_steps(trace, steps);
  if (!host.ok()) return host.status();
  const Result<std::optional<TimeRange>> devices = analyses::window_of_steps(trace, steps);
  if (!devices.ok()) return devices.status();
  return analyses::part_of(trace, {**host, **devices, steps.first, steps.last});
}

namespace analyses {

Status no_such_steps(const StepRange& wanted, const std::optional<StepRange>& existing,
                     const std::string& why_none) {
  return {StatusCode::invalid_argument, "cannot select " + steps_text(wanted) + ": the trace has " +
                                            (existing           ? steps_text(*existing)
                                             : why_none.empty() ? "no steps"
                                                                : "no steps. " + why_none)};
}

Result<std::optional<TimeRange>> window_of_steps(const Trace& trace,
                                                 const std::optional<StepRange>& steps) {
  std::optional<TimeRange> window;
  if (!steps) return window;
  if (trace.steps().empty()) return no_such_steps(*steps, std::nullopt);
  const StepRules rules(trace, exact_step_policy());
  for (const StepWindow& step :
       step_windows(trace, rules, links_of(trace).placed_work(), StepChoice::all_recorded).steps) {
    if (step.step.event == EventId::none || !steps->contains(step.step.number)) continue;
    window = window ? TimeRange{std::min(window->start, step.time.start),
                                std::max(window->end, step.time.end)}
                    : step.time;
  }
  if (!window) return no_such_steps(*steps, steps_of(trace));
  return window;
}

Result<std::optional<TimeRange>> host_time_of_steps(const Trace& trace,
                                                    const std::optional<StepRange>& steps) {
  std::optional<TimeRange> time;
  if (!steps) return time;
  for (const Step& step : trace.steps()) {
    if (step.event == EventId::none || !steps->contains(step.number)) continue;
    const std::int64_t start = trace.events().start_ns(step.event);
    const std::int64_t end = trace.events().end_ns(step.event);
    time = time ? TimeRange{std::min(time->start, start), std::max(time->end, end)}
                : TimeRange{start, end};
  }
  if (!time) return no_such_steps(*steps, steps_of(trace));
  return time;
}

}  // namespace analyses
}  // namespace tbtrace
