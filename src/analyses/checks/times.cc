// Checks of times and steps.
#include "trace/times.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/steps.h>

#include "analyses/attribution/work_times.h"
#include "analyses/checks/list.h"
#include "analyses/steps/compilation.h"
#include "analyses/steps/iteration_facts.h"
#include "base/bounded_sum.h"
#include "trace/links.h"
#include "trace/step_names.h"

namespace tbtrace::analyses {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

using Process = std::pair<std::int64_t, StringId>;

Process process_of(const Trace& trace, EventId event) {
  const TrackKey& process = trace.track(trace.events().track(event)).process;
  return {process.number, process.text};
}

/// Of each process the steps in the order of their numbers, each number once.
std::map<Process, std::map<std::int64_t, EventId>> steps_by_number(const Trace& trace) {
  std::map<Process, std::map<std::int64_t, EventId>> steps;
  for (const Step& step : trace.steps()) {
    steps[process_of(trace, step.event)].emplace(step.number, step.event);
  }
  return steps;
}

/// When the host ranges of each process start, in the order of time; without steps.
std::map<Process, std::vector<std::int64_t>> starts_by_process(const Trace& trace) {
  std::set<EventId> steps;
  for (const Step& step : trace.steps()) steps.insert(step.event);
  std::map<Process, std::vector<std::int64_t>> starts;
  for (const EventId event : trace.by_start()) {
    if (!is_host_range(trace.kind(event)) || steps.contains(event)) continue;
    starts[process_of(trace, event)].push_back(trace.events().start_ns(event));
  }
  return starts;
}

}  // namespace

void find_misplaced_work(const Trace& trace, CheckHits& hits) {
  const LostTimes lost(trace);  // which have a check of their own
  for (const EventId event : links_of(trace).misplaced()) {
    if (!lost.contains(event)) hits.add(event);
  }
}

void find_stream_overruns(const Trace& trace, CheckHits& hits) {
  WideInteger ns = 0;
  for (const Overrun& overrun : stream_overruns(trace)) {
    hits.add(overrun.activity);
    ns += overrun.ns;
  }
  hits.cause = "activities run on while later ones of the same stream begin and end (" +
               std::to_string(bounded(ns / 1000)) +
               " us in all), but work on one stream is serial: durations are wrong, and so are the "
               "figures made of them";
}

void find_zero_durations(const Trace& trace, CheckHits& hits) {
  const LostTimes lost(trace);
  std::uint64_t work = 0;
  for (const EventId event : trace.by_start()) {
    if (!is_device_work(trace.kind(event))) continue;
    ++work;
    if (trace.events().duration_ns(event) == 0 && !lost.contains(event)) hits.add(event);
  }
  if (lacks_durations(trace)) {
    hits.cause =
        "many device activities have no duration, so it is not known how busy the device was; "
        "findings about it are left out";
    return;
  }
  if (!exceeds(hits.count, work, 1) || has_whole_microseconds(trace))
    hits.severity = CheckSeverity::info;
}

void find_clock_jumps(const Trace& trace, CheckHits& hits) {
  for (const ClockJump& jump : clock_jumps(trace)) hits.add(jump.ended_by);
}

void find_unrecorded_work(const Trace& trace, CheckHits& hits) {
  for (const EventId wait : waits_for_unrecorded_work(trace)) hits.add(wait);
}

void find_times_of_zero(const Trace& trace, CheckHits& hits) {
  for (const EventId event : LostTimes(trace).at_zero()) {
    if (trace.kind(event) != EventKind::trace_span) hits.add(event);
  }
  constexpr std::uint64_t kMany = 10;  // percent
  if (exceeds(hits.count, trace.events().size(), kMany)) hits.severity = CheckSeverity::error;
}

void find_missing_steps(const Trace& trace, CheckHits& hits) {
  const Events& events = trace.events();
  std::map<Process, std::vector<std::int64_t>> starts;  // found when a number is missing
  bool any_recorded = false;
  for (const auto& [process, steps] : steps_by_number(trace)) {
    auto last = steps.begin();
    for (auto step = std::next(last); step != steps.end(); last = step++) {
      const WideInteger missing = WideInteger{step->first} - last->first - 1;
      if (missing <= 0) continue;
      hits.add(step_name(last->first + 1));
      hits.count = static_cast<std::uint64_t>(std::min<WideInteger>(
          hits.count + missing - 1, std::numeric_limits<std::int64_t>::max()));
      // Between the cycles of a schedule nothing is recorded.
      if (starts.empty()) starts = starts_by_process(trace);
      const std::vector<std::int64_t>& ranges = starts[process];
      const auto next = std::lower_bound(ranges.begin(), ranges.end(), events.end_ns(last->second));
      any_recorded =
          any_recorded || (next != ranges.end() && *next < events.start_ns(step->second));
    }
  }
  if (!any_recorded) hits.severity = CheckSeverity::info;
}

void find_steps_without_device_work(const Trace& trace, CheckHits& hits) {
  if (trace.steps().empty()) return;
  const StepBreakdown breakdown = step_breakdown(trace, {.keep_tail_steps = true});
  const auto launches = [](const StepTime& step) { return step.launched > 0; };
  if (std::none_of(breakdown.steps.begin(), breakdown.steps.end(), launches)) return;
  // When a profiler stops, it also ends a step that has hardly begun.
  std::size_t tail = breakdown.steps.size();
  while (breakdown.steps[tail - 1].launched == 0) --tail;
  std::uint64_t before_tail = 0;
  const std::vector<IterationFacts> facts = facts_of_steps(trace, breakdown.steps);
  for (std::size_t number = 0; number < breakdown.steps.size(); ++number) {
    const StepTime& step = breakdown.steps[number];
    // A rank without requests waits for the others.
    if (step.launched > 0 || facts[number].kind == IterationKind::idle) continue;
    if (hits.count == 0) hits.at_ns = since_start(trace, step.start_ns);
    hits.add(step.name);
    before_tail += number < tail;
  }
  if (before_tail == 0) hits.severity = CheckSeverity::info;
}

/// Of two steps or more, some of which compile: the others show what a step is like.
void find_compilation_in_steps(const Trace& trace, CheckHits& hits) {
  std::vector<TimeRange> times;
  std::vector<EventId> steps;
  for (const Step& step : trace.steps()) {
    const TimeRange time = {trace.events().start_ns(step.event), trace.events().end_ns(step.event)};
    if (!times.empty() && time.start < times.back().end) continue;  // of another thread
    times.push_back(time);
    steps.push_back(step.event);
  }
  if (times.size() < 2) return;
  const std::vector<std::int64_t> compiling = compilation_times(trace, times);
  std::vector<EventId> found;
  for (std::size_t step = 0; step < times.size(); ++step) {
    const std::int64_t length = times[step].end - times[step].start;
    if (exceeds(static_cast<std::uint64_t>(compiling[step]), static_cast<std::uint64_t>(length),
                10)) {
      found.push_back(steps[step]);
    }
  }
  // A program that compiles in most steps does not do it once.
  if (found.size() * 2 > times.size()) return;
  for (const EventId step : found) hits.add(step);
}

}  // namespace tbtrace::analyses
