#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <tbtrace/gpu.h>

#include "analyses/gpu/activities.h"
#include "analyses/gpu/gaps.h"
#include "analyses/gpu/idle_account.h"
#include "analyses/gpu/queue_length.h"
#include "analyses/kernels/launched_activities.h"
#include "analyses/steps/rules.h"
#include "analyses/steps/windows.h"
#include "base/bounded_sum.h"
#include "base/id_map.h"
#include "base/share.h"
#include "base/time_ranges.h"
#include "trace/links.h"
#include "trace/track_keys.h"

namespace tbtrace {
namespace {

using analyses::Activities;
using analyses::ActivityWindow;
using analyses::DeviceActivities;

class Measure {
 public:
  Measure(const Trace& trace, const analyses::StepRules& rules,
          const analyses::LaunchedActivities& launched_activities, const GpuOptions& options)
      : trace_(trace),
        events_(trace.events()),
        rules_(rules),
        launched_activities_(launched_activities),
        options_(options) {}

  GpuUse run(const Activities& activities, const ActivityWindow& window) {
    use_ = {};
    use_.window_ns = window.time.end - window.time.start;
    window_ = window;
    const Activities inside = window.inside(events_, activities);
    add_times(inside);
    add_idle(inside);
    add_queue(activities);
    add_launches(inside);
    return use_;
  }

 private:
  void add_times(const Activities& inside) {
    std::vector<TimeRange> computation;
    std::vector<TimeRange> communication;
    std::vector<TimeRange> memory;
    for (const DeviceLink* link : inside) {
      const std::optional<StepRole> role = rules_.role(link->activity);
      std::vector<TimeRange>& kind = role == StepRole::kernel          ? computation
                                     : role == StepRole::communication ? communication
                                                                       : memory;
      add_range(kind, window_.part_in(events_, *link));
    }
    use_.computation_ns = total_length(computation);
    use_.communication_ns = total_length(communication);
    use_.memory_ns = total_length(memory);
    use_.overlap_ns = total_length(intersection(computation, communication));
    const std::vector<TimeRange> exposed_communication = difference(communication, computation);
    const std::vector<TimeRange> exposed_memory =
        difference(difference(memory, computation), communication);
    use_.exposed_communication_ns = total_length(exposed_communication);
    use_.exposed_memory_ns = total_length(exposed_memory);
    use_.busy_ns = use_.computation_ns + use_.exposed_communication_ns + use_.exposed_memory_ns;
    use_.idle_ns = use_.window_ns - use_.busy_ns;
  }

  void add_idle(const Activities& inside) {
    for (const analyses::DeviceGap& gap :
         analyses::device_gaps(trace_, inside, window_.time, options_.kernel_wait_limit_ns)) {
      std::int64_t& sum = gap.cause == analyses::GapCause::host_wait     ? use_.idle_host_wait_ns
                          : gap.cause == analyses::GapCause::kernel_wait ? use_.idle_kernel_wait_ns
                                                                         : use_.idle_other_ns;
      sum += gap.time.end - gap.time.start;
    }
  }

  /// Also activities after the window may wait in it; those before it cannot.
  void add_queue(const Activities& activities) {
    analyses::QueueLength queue(window_.time);
    for (const DeviceLink* link : activities) {
      if (link->launch == EventId::none) continue;
      queue.add({events_.start_ns(link->launch), events_.start_ns(link->activity)});
    }
    use_.queue_length_mean = queue.mean();
    use_.queue_length_max = queue.max();
  }

  void add_launches(const Activities& inside) {
    use_.activities = inside.size();
    const ArgumentColumn& bytes = trace_.argument(Argument::copied_bytes);
    IdMap launches;
    for (const DeviceLink* link : inside) {
      const std::int64_t duration_ns = events_.duration_ns(link->activity);
      const auto size = bytes.integer(link->activity);
      if (size && trace_.kind(link->activity) != EventKind::kernel) {
        add_bounded(use_.copied_bytes, *size);
        add_bounded(use_.copy_ns, duration_ns);
      }
      if (link->launch == EventId::none) continue;
      launches.insert(static_cast<std::int64_t>(index(link->launch)) + 1, 0);
      if (trace_.kind(link->activity) == EventKind::kernel &&
          launched_activities_.is_short(link->activity, link->launch)) {
        ++use_.short_kernels;
      }
    }
    use_.launches = launches.size();
  }

  const Trace& trace_;
  const Events& events_;
  const analyses::StepRules& rules_;
  const analyses::LaunchedActivities& launched_activities_;
  const GpuOptions& options_;
  ActivityWindow window_;
  GpuUse use_;
};

/// By the first starts of the streams.
std::vector<Activities> by_stream(const Trace& trace, const Activities& activities) {
  std::vector<Activities> streams;
  IdMap stream_of_track;
  for (const DeviceLink* link : activities) {
    const TrackId track = trace.events().track(link->activity);
    const auto [stream, is_new] = stream_of_track.insert(
        static_cast<std::int64_t>(index(track)), static_cast<std::uint32_t>(streams.size()));
    if (is_new) streams.emplace_back();
    streams[stream].push_back(link);
  }
  return streams;
}

/// The activities of a device that count in a window, found without looking at all of them.
class ActivitiesInWindows {
 public:
  ActivitiesInWindows(const Events& events, const Activities& activities)
      : events_(events), activities_(activities) {
    last_end_.reserve(activities.size());
    std::int64_t end = INT64_MIN;
    for (const DeviceLink* const link : activities) {
      last_end_.push_back(end = std::max(end, events.end_ns(link->activity)));
    }
    first_launch_.resize(activities.size());
    std::int64_t launch = INT64_MAX;
    for (std::size_t at = activities.size(); at-- > 0;) {
      const EventId its_launch = activities[at]->launch;
      if (its_launch != EventId::none) launch = std::min(launch, events.start_ns(its_launch));
      first_launch_[at] = launch;
    }
  }

  /// Those that run in it, or were launched in it or before and had not started.
  Activities in(TimeRange window) const {
    const auto first = std::ranges::lower_bound(last_end_, window.start) - last_end_.begin();
    const auto running = std::ranges::partition_point(activities_, [&](const DeviceLink* link) {
      return events_.start_ns(link->activity) < window.end;
    });
    const auto waiting = std::ranges::lower_bound(first_launch_, window.end);
    const auto last = std::max(running - activities_.begin(), waiting - first_launch_.begin());
    return {activities_.begin() + first, activities_.begin() + std::max(first, last)};
  }

 private:
  const Events& events_;
  const Activities& activities_;
  std::vector<std::int64_t> last_end_;      // of an activity and all before it
  std::vector<std::int64_t> first_launch_;  // of an activity and all after it
};

/// As the table of steps has them.
std::vector<analyses::StepWindow> chosen_steps(const Trace& trace, const analyses::StepRules& rules,
                                               const std::optional<StepRange>& chosen) {
  if (trace.steps().empty()) return {};
  std::vector<analyses::StepWindow> steps =
      analyses::step_windows(trace, rules, links_of(trace).placed_work(),
                             analyses::StepChoice::complete)
          .steps;
  std::erase_if(steps, [&](const analyses::StepWindow& step) {
    return step.step.event == EventId::none || (chosen && !chosen->contains(step.step.number));
  });
  return steps;
}

}  // namespace

double GpuUse::busy_share() const { return share(busy_ns, window_ns); }

Result<std::vector<GpuUse>> gpu_use(const Trace& trace, const GpuOptions& options) {
  const Result<std::vector<DeviceActivities>> devices =
      analyses::device_activities(trace, options.steps);
  if (!devices.ok()) return devices.status();
  const analyses::StepRules rules(trace, analyses::exact_step_policy());
  const analyses::LaunchedActivities launched_activities(trace);
  Measure measure(trace, rules, launched_activities, options);
  std::vector<GpuUse> rows;
  const auto add = [&](const Activities& activities, const DeviceActivities& device) -> GpuUse& {
    rows.push_back(measure.run(activities, device.window));
    rows.back().device = device.device;
    return rows.back();
  };
  std::vector<analyses::IdleAccount> accounts;
  if (!options.by_stream) accounts = analyses::idle_accounts(trace, rules, *devices);
  std::vector<analyses::StepWindow> steps;
  if (options.by_step) steps = chosen_steps(trace, rules, options.steps);
  for (std::size_t at = 0; at < devices->size(); ++at) {
    const DeviceActivities& device = (*devices)[at];
    if (options.by_step) {
      const ActivitiesInWindows activities(trace.events(), device.activities);
      for (const analyses::StepWindow& step : steps) {
        const ActivityWindow window = {step.time, false};
        GpuUse& row = rows.emplace_back(measure.run(activities.in(step.time), window));
        row.device = device.device;
        row.step = step.step.number;
        analyses::add_idle_causes(trace, accounts[at], step.time, row);
      }
      continue;
    }
    if (!options.by_stream) {
      analyses::add_idle_causes(trace, accounts[at], device.window.time,
                                add(device.activities, device));
      continue;
    }
    for (const Activities& activities : by_stream(trace, device.activities)) {
      const Track& track = trace.track(trace.events().track(activities.front()->activity));
      add(activities, device).stream = key_text(trace, track.thread);
    }
  }
  return rows;
}

}  // namespace tbtrace
