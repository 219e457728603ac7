#include "jobs/path/host_collectives.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "trace/call_tree.h"

namespace tbtrace::jobs {
namespace {

bool is_call(const Trace& trace, EventId range) {
  const std::string_view name = trace.name(range);
  return name.starts_with("c10d::") || name == "record_param_comms";
}

/// The outermost of calls that are in each other, by start.
std::vector<EventId> calls_of(const Trace& trace) {
  const CallTree& tree = call_tree_of(trace);
  std::vector<EventId> calls;
  for (const EventId range : tree.ranges()) {
    if (!is_call(trace, range)) continue;
    const EventId around = tree.parent(range);
    if (around == EventId::none || !is_call(trace, around)) calls.push_back(range);
  }
  std::ranges::stable_sort(calls, {}, [&](EventId call) { return trace.events().start_ns(call); });
  return calls;
}

}  // namespace

std::vector<analyses::HostCollective> host_collectives(const Trace& trace,
                                                       const RecordedCollectives& recorded) {
  const Events& events = trace.events();
  std::vector<analyses::HostCollective> found;
  for (const RecordedCollective& one : recorded.collectives) {
    if (is_host_range(trace.kind(one.event))) found.push_back({.range = one.event});
  }
  if (found.empty()) return found;
  const std::vector<EventId> calls = calls_of(trace);
  std::vector<bool> is_taken(calls.size(), false);
  for (analyses::HostCollective& one : found) {
    const std::int64_t start = events.start_ns(one.range);
    const TrackId own = events.track(one.range);
    const auto after = std::ranges::upper_bound(
        calls, start, {}, [&](EventId call) { return events.start_ns(call); });
    for (auto at = static_cast<std::size_t>(after - calls.begin()); at-- > 0;) {
      const TrackId thread = events.track(calls[at]);
      if (is_taken[at] || trace.track(thread).process != trace.track(own).process) continue;
      if (thread == own && events.end_ns(calls[at]) < start) continue;
      is_taken[at] = true;
      one.call = calls[at];
      break;
    }
  }
  // When one could have begun is not known without its call.
  std::erase_if(found, [](const auto& one) { return one.call == EventId::none; });
  return found;
}

}  // namespace tbtrace::jobs
