#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <utility>

#include <tbtrace/gpu.h>

#include "analyses/attribution/device_number.h"
#include "analyses/gpu/gaps.h"
#include "analyses/gpu/queue_length.h"
#include "analyses/kernels/launched_activities.h"
#include "analyses/steps/rules.h"
#include "analyses/steps/selection.h"
#include "base/bounded_sum.h"
#include "base/id_map.h"
#include "base/share.h"
#include "base/time_ranges.h"
#include "trace/links.h"
#include "trace/track_keys.h"

namespace tbtrace {
namespace {

/// A device, and one of its streams by the order of their first activities.
using Place = std::pair<std::int64_t, std::size_t>;

/// The device activities of a place, by start.
using Activities = std::vector<const DeviceLink*>;

/// The first one's start to the last end.
TimeRange time_of(const Activities& activities, const Events& events) {
  TimeRange time = {events.start_ns(activities.front()->activity),
                    events.end_ns(activities.front()->activity)};
  for (const DeviceLink* link : activities) {
    time.end = std::max(time.end, events.end_ns(link->activity));
  }
  return time;
}

class Measure {
 public:
  Measure(const Trace& trace, const analyses::StepRules& rules,
          const analyses::LaunchedActivities& launched_activities, const GpuOptions& options)
      : trace_(trace),
        events_(trace.events()),
        rules_(rules),
        launched_activities_(launched_activities),
        options_(options) {}

  /// `is_whole`: the window is where the activities begin and end, so that all of them count.
  /// Otherwise only those that run in it do, and their time in it.
  GpuUse run(const Activities& activities, TimeRange window, bool is_whole) {
    use_ = {};
    use_.window_ns = window.end - window.start;
    window_ = window;
    Activities inside;
    for (const DeviceLink* link : activities) {
      const TimeRange time = time_in_window(*link);
      const bool runs = time.start < time.end ||
                        (time.start == time.end && events_.duration_ns(link->activity) == 0 &&
                         time.start >= window.start && time.start < window.end);
      if (is_whole || runs) inside.push_back(link);
    }
    add_times(inside);
    add_idle(inside);
    add_queue(activities);
    add_launches(inside);
    return use_;
  }

 private:
  TimeRange time_in_window(const DeviceLink& link) const {
    return {std::max(events_.start_ns(link.activity), window_.start),
            std::min(events_.end_ns(link.activity), window_.end)};
  }

  void add_times(const Activities& inside) {
    std::vector<TimeRange> computation;
    std::vector<TimeRange> communication;
    std::vector<TimeRange> memory;
    for (const DeviceLink* link : inside) {
      const std::optional<StepRole> role = rules_.role(link->activity);
      std::vector<TimeRange>& kind = role == StepRole::kernel          ? computation
                                     : role == StepRole::communication ? communication
                                                                       : memory;
      add_range(kind, time_in_window(*link));
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
         analyses::device_gaps(trace_, inside, window_, options_.kernel_wait_limit_ns)) {
      std::int64_t& sum = gap.cause == analyses::GapCause::host_wait     ? use_.idle_host_wait_ns
                          : gap.cause == analyses::GapCause::kernel_wait ? use_.idle_kernel_wait_ns
                                                                         : use_.idle_other_ns;
      sum += gap.time.end - gap.time.start;
    }
  }

  /// Also activities after the window may wait in it.
  void add_queue(const Activities& activities) {
    analyses::QueueLength queue(window_);
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
  TimeRange window_;
  GpuUse use_;
};

}  // namespace

double GpuUse::busy_share() const { return share(busy_ns, window_ns); }

Result<std::vector<GpuUse>> gpu_use(const Trace& trace, const GpuOptions& options) {
  const Result<std::optional<TimeRange>> chosen = analyses::window_of_steps(trace, options.steps);
  if (!chosen.ok()) return chosen.status();
  const std::optional<TimeRange>& window = *chosen;
  const std::span<const DeviceLink> links = links_of(trace).placed_work();
  std::map<std::int64_t, Activities> devices;
  std::map<Place, Activities> streams;
  std::vector<std::size_t> number_of_track(trace.tracks().size(), 0);
  std::size_t tracks = 0;
  for (const DeviceLink& link : links) {
    const TrackId track = trace.events().track(link.activity);
    const std::int64_t device = analyses::device_number(trace.track(track));
    devices[device].push_back(&link);
    if (!options.by_stream) continue;
    if (number_of_track[index(track)] == 0) number_of_track[index(track)] = ++tracks;
    streams[{device, number_of_track[index(track)]}].push_back(&link);
  }
  const analyses::StepRules rules(trace, analyses::exact_step_policy());
  const analyses::LaunchedActivities launched_activities(trace);
  Measure measure(trace, rules, launched_activities, options);
  std::vector<GpuUse> rows;
  const auto add = [&](const Activities& activities, std::int64_t device) -> GpuUse& {
    const TimeRange time = window ? *window : time_of(devices[device], trace.events());
    GpuUse row = measure.run(activities, time, !window);
    row.device = device;
    rows.push_back(std::move(row));
    return rows.back();
  };
  if (!options.by_stream) {
    for (const auto& [device, activities] : devices) add(activities, device);
    return rows;
  }
  for (const auto& [place, activities] : streams) {
    const Track& track = trace.track(trace.events().track(activities.front()->activity));
    add(activities, place.first).stream = key_text(trace, track.thread);
  }
  return rows;
}

}  // namespace tbtrace
