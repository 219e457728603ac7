#include "analyses/gpu/gaps.h"

#include <algorithm>
#include <cstddef>

namespace tbtrace::analyses {

std::vector<DeviceGap> device_gaps(const Trace& trace,
                                   std::span<const DeviceLink* const> activities, TimeRange window,
                                   std::int64_t kernel_wait_limit_ns) {
  const Events& events = trace.events();
  const auto start_of = [&](const DeviceLink* link) {
    return std::max(events.start_ns(link->activity), window.start);
  };
  std::vector<DeviceGap> gaps;
  std::int64_t busy_until = window.start;
  EventId last = EventId::none;  // was busy until then
  for (std::size_t first = 0; first < activities.size();) {
    const std::int64_t start = start_of(activities[first]);
    std::int64_t end = start;
    EventId longest = activities[first]->activity;   // of those that start together
    const DeviceLink* earliest = activities[first];  // of those that start together
    std::size_t next = first;
    for (; next < activities.size() && start_of(activities[next]) == start; ++next) {
      const DeviceLink* link = activities[next];
      const std::int64_t its_end = std::min(events.end_ns(link->activity), window.end);
      if (its_end > end) {
        end = its_end;
        longest = link->activity;
      }
      if (link->launch == EventId::none) continue;
      const bool is_earlier = earliest->launch == EventId::none ||
                              events.start_ns(link->launch) < events.start_ns(earliest->launch);
      if (is_earlier) earliest = link;
    }
    if (start > busy_until) {
      DeviceGap gap = {{busy_until, start}, GapCause::other, *earliest, last};
      const bool at_edge = first == 0;
      if (!at_edge && earliest->launch != EventId::none) {
        if (events.start_ns(earliest->launch) >= busy_until) {
          gap.cause = GapCause::host_wait;
        } else if (start - busy_until < kernel_wait_limit_ns) {
          gap.cause = GapCause::kernel_wait;
        }
      }
      gaps.push_back(gap);
    }
    if (end >= busy_until) {
      busy_until = end;
      last = longest;
    }
    first = next;
  }
  if (window.end > busy_until) {
    gaps.push_back({{busy_until, window.end}, GapCause::other, {}, last});
  }
  return gaps;
}

}  // namespace tbtrace::analyses
