#include "analyses/attribution/open_steps.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>

#include "trace/links.h"

namespace tbtrace::analyses {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;

}  // namespace

OpenSteps::OpenSteps(const Trace& trace) : trace_(trace) {
  using Process = std::pair<std::int64_t, StringId>;
  const auto process_of = [](const Track& track) {
    return Process(track.process.number, track.process.text);
  };
  std::map<Process, std::vector<Step>> steps;
  for (const Step& step : trace.steps()) {
    steps[process_of(trace.track(trace.events().track(step.event)))].push_back(step);
  }
  std::map<Process, std::uint32_t> numbers;
  for (const auto& [process, its_steps] : steps) {
    numbers.emplace(process, static_cast<std::uint32_t>(changes_.size()));
    add_process(its_steps);
  }
  if (changes_.empty()) return;
  for (const Track& track : trace.tracks()) {
    const auto found = numbers.find(process_of(track));
    process_of_.push_back(found == numbers.end() ? kNone : found->second);
  }
  list_activities();
}

/// `steps` by start. A step is open before its end, and one of no length only at its start.
void OpenSteps::add_process(std::vector<Step> steps) {
  const Events& events = trace_.events();
  const auto after = [&](const Step& step) {
    const std::int64_t end = events.end_ns(step.event);
    constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
    return end > events.start_ns(step.event) || end == kLast ? end : end + 1;
  };
  std::vector<std::int64_t> times;
  for (const Step& step : steps) {
    times.push_back(events.start_ns(step.event));
    times.push_back(after(step));
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  std::vector<Change>& changes = changes_.emplace_back();
  std::vector<Step> open;  // what has ended is removed when it comes to the end
  std::size_t next = 0;
  for (const std::int64_t time : times) {
    for (; next < steps.size() && events.start_ns(steps[next].event) <= time; ++next) {
      open.push_back(steps[next]);
    }
    while (!open.empty() && after(open.back()) <= time) open.pop_back();
    changes.push_back({time, std::nullopt});
    if (!open.empty()) changes.back().step = open.back().number;
  }
}

void OpenSteps::list_activities() {
  if (!trace_.device()) return;  // finding links takes time
  for (const DeviceLink& link : links_of(trace_).device_work()) {
    launched_.push_back({link.activity, link.launch != EventId::none ? link.launch : link.op});
  }
  std::sort(launched_.begin(), launched_.end(),
            [](const Launched& a, const Launched& b) { return a.activity < b.activity; });
}

std::optional<std::int64_t> OpenSteps::at(TrackId track, std::int64_t time_ns) const {
  if (changes_.empty() || process_of_[index(track)] == kNone) return std::nullopt;
  const std::vector<Change>& changes = changes_[process_of_[index(track)]];
  const auto next = std::upper_bound(
      changes.begin(), changes.end(), time_ns,
      [](std::int64_t time, const Change& change) { return time < change.time_ns; });
  return next == changes.begin() ? std::nullopt : (next - 1)->step;
}

std::optional<std::int64_t> OpenSteps::of(EventId event) const {
  if (changes_.empty()) return std::nullopt;
  if (is_device_work(trace_.kind(event))) {
    const auto found = std::lower_bound(
        launched_.begin(), launched_.end(), event,
        [](const Launched& launched, EventId activity) { return launched.activity < activity; });
    if (found == launched_.end() || found->activity != event) return std::nullopt;
    event = found->from;
  }
  if (event == EventId::none || !is_host_range(trace_.kind(event))) return std::nullopt;
  return at(trace_.events().track(event), trace_.events().start_ns(event));
}

}  // namespace tbtrace::analyses
