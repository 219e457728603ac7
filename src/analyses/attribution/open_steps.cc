#include "analyses/attribution/open_steps.h"

#include <algorithm>
#include <limits>
#include <map>

#include "trace/links.h"

namespace tbtrace::analyses {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

}  // namespace

OpenSteps::OpenSteps(const Trace& trace, std::span<const Step> steps) : trace_(trace) {
  std::map<Process, std::vector<std::size_t>> by_process;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    const TrackKey& process = trace.track(trace.events().track(steps[step].event)).process;
    by_process[{process.number, process.text}].push_back(step);
  }
  for (const auto& [process, its_steps] : by_process) {
    numbers_.emplace(process, static_cast<std::uint32_t>(changes_.size()));
    add_process(steps, its_steps);
  }
  if (changes_.empty()) return;
  for (const Track& track : trace.tracks()) process_of_.push_back(number_of(track.process));
}

std::uint32_t OpenSteps::number_of(const TrackKey& process) const {
  if (changes_.size() == 1) return 0;
  const auto found = numbers_.find({process.number, process.text});
  return found == numbers_.end() ? kNone : found->second;
}

/// `numbers` by start. A step is open before its end, and one of no length only at its start.
void OpenSteps::add_process(std::span<const Step> steps, std::span<const std::size_t> numbers) {
  const Events& events = trace_.events();
  const auto start = [&](std::size_t step) { return events.start_ns(steps[step].event); };
  const auto after = [&](std::size_t step) {
    const std::int64_t end = events.end_ns(steps[step].event);
    constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
    return end > start(step) || end == kLast ? end : end + 1;
  };
  std::vector<std::int64_t> times;
  for (const std::size_t step : numbers) {
    times.push_back(start(step));
    times.push_back(after(step));
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  std::vector<Change>& changes = changes_.emplace_back();
  std::vector<std::size_t> open;  // what has ended is removed when it comes to the end
  std::size_t next = 0;
  for (const std::int64_t time : times) {
    for (; next < numbers.size() && start(numbers[next]) <= time; ++next) {
      open.push_back(numbers[next]);
    }
    while (!open.empty() && after(open.back()) <= time) open.pop_back();
    changes.push_back({time, std::nullopt});
    if (!open.empty()) changes.back().step = open.back();
  }
}

std::optional<std::size_t> OpenSteps::at_start_of(EventId range) const {
  if (changes_.empty() || range == EventId::none || !is_host_range(trace_.kind(range))) {
    return std::nullopt;
  }
  const Events& events = trace_.events();
  return at(process_of_[index(events.track(range))], events.start_ns(range));
}

std::optional<std::size_t> OpenSteps::at(const TrackKey& process, std::int64_t time_ns) const {
  return changes_.empty() ? std::nullopt : at(number_of(process), time_ns);
}

std::optional<std::size_t> OpenSteps::at(std::uint32_t process, std::int64_t time_ns) const {
  if (process == kNone) return std::nullopt;
  const std::vector<Change>& changes = changes_[process];
  const auto next = std::upper_bound(
      changes.begin(), changes.end(), time_ns,
      [](std::int64_t time, const Change& change) { return time < change.time_ns; });
  return next == changes.begin() ? std::nullopt : (next - 1)->step;
}

StepOfEvent::StepOfEvent(const Trace& trace) : trace_(trace), open_(trace, trace.steps()) {
  if (trace.steps().empty() || !trace.device()) return;  // finding links takes time
  for (const DeviceLink& link : links_of(trace).device_work()) {
    launched_.push_back({link.activity, launching_range(link)});
  }
  std::sort(launched_.begin(), launched_.end(),
            [](const Launched& a, const Launched& b) { return a.activity < b.activity; });
}

std::optional<std::int64_t> StepOfEvent::of(EventId event) const {
  if (is_device_work(trace_.kind(event))) {
    const auto found = std::lower_bound(
        launched_.begin(), launched_.end(), event,
        [](const Launched& launched, EventId activity) { return launched.activity < activity; });
    if (found == launched_.end() || found->activity != event) return std::nullopt;
    event = found->from;
  }
  const std::optional<std::size_t> step = open_.at_start_of(event);
  return step ? std::optional(trace_.steps()[*step].number) : std::nullopt;
}

}  // namespace tbtrace::analyses
