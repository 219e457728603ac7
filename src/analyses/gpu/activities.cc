#include "analyses/gpu/activities.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyses/steps/selection.h"
#include "trace/links.h"
#include "trace/trace_data.h"

namespace tbtrace::analyses {
namespace {

/// The first one's start to the last end.
TimeRange time_of(const Activities& activities, const Events& events) {
  TimeRange time = {events.start_ns(activities.front()->activity),
                    events.end_ns(activities.front()->activity)};
  for (const DeviceLink* link : activities) {
    time.end = std::max(time.end, events.end_ns(link->activity));
  }
  return time;
}

}  // namespace

TimeRange ActivityWindow::part_in(const Events& events, const DeviceLink& link) const {
  return {std::max(events.start_ns(link.activity), time.start),
          std::min(events.end_ns(link.activity), time.end)};
}

Activities ActivityWindow::inside(const Events& events, const Activities& activities) const {
  if (is_whole) return activities;
  Activities inside;
  for (const DeviceLink* link : activities) {
    const TimeRange part = part_in(events, *link);
    const bool runs = part.start < part.end ||
                      (part.start == part.end && events.duration_ns(link->activity) == 0 &&
                       part.start >= time.start && part.start < time.end);
    if (runs) inside.push_back(link);
  }
  return inside;
}

Result<std::vector<DeviceActivities>> device_activities(const Trace& trace,
                                                        const std::optional<StepRange>& steps) {
  Result<std::optional<TimeRange>> chosen = window_of_steps(trace, steps);
  if (!chosen.ok()) return chosen.status();
  const std::optional<PartTime> part = part_time_of(trace);
  if (part && !*chosen) *chosen = part->devices;
  std::map<std::int64_t, Activities> devices;
  for (const DeviceLink& link : links_of(trace).placed_work()) {
    const TrackId track = trace.events().track(link.activity);
    devices[device_number(trace.track(track))].push_back(&link);
  }
  std::vector<DeviceActivities> all;
  for (auto& [device, activities] : devices) {
    const ActivityWindow window = *chosen
                                      ? ActivityWindow{**chosen, false}
                                      : ActivityWindow{time_of(activities, trace.events()), true};
    all.push_back({device, std::move(activities), window});
  }
  return all;
}

}  // namespace tbtrace::analyses
