#include "analyses/compat/plugin/launches.h"

#include <algorithm>
#include <cstdint>

#include "analyses/compat/plugin/rules.h"
#include "base/id_map.h"

namespace tbtrace::analyses {

/// Doubles keep the order of nanoseconds, so only events with equal doubles have to be sorted.
std::vector<EventId> plugin_order(const Trace& trace) {
  std::vector<EventId> order(trace.by_start().begin(), trace.by_start().end());
  const auto start = [&](EventId event) { return plugin_time(trace.events().start_ns(event)); };
  for (auto first = order.begin(); first != order.end();) {
    const double time = start(*first);
    auto last = first + 1;
    while (last != order.end() && start(*last) == time) ++last;
    std::sort(first, last);
    first = last;
  }
  return order;
}

std::vector<DeviceLink> plugin_launches(const Trace& trace, std::span<const EventId> order) {
  std::vector<DeviceLink> work;
  IdMap launches;                             // latest launch call by correlation
  IdMap waiting;                              // last work by correlation, without a call so far
  std::vector<std::uint32_t> waiting_before;  // by row of work
  for (const EventId event : order) {
    const std::int64_t correlation = trace.correlation(event);
    if (is_plugin_work(trace.category(event))) {
      const auto row = static_cast<std::uint32_t>(work.size());
      const std::uint32_t launch = launches.find(correlation);
      work.push_back({event, static_cast<EventId>(launch)});  // EventId::none if there is none
      waiting_before.push_back(launch == IdMap::kNone ? waiting.replace(correlation, row)
                                                      : IdMap::kNone);
    } else if (is_plugin_launch(trace, event)) {
      const bool first =
          launches.replace(correlation, static_cast<std::uint32_t>(event)) == IdMap::kNone;
      if (!first) continue;
      for (std::uint32_t row = waiting.find(correlation); row != IdMap::kNone;
           row = waiting_before[row]) {
        work[row].launch = event;
      }
    }
  }
  return work;
}

}  // namespace tbtrace::analyses
