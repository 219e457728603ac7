#include "jobs/path/host_collectives.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "trace/call_tree.h"

namespace tbtrace::jobs {
namespace {

bool is_call(const Trace& trace, EventId range) {
  const std::string_view name = trace.name(range);
  return name.starts_with("c10d::") || name == "record_param_comms";
}

/// `allreduce` for `c10d::allreduce_` and for `gloo:all_reduce`.
std::string kind_of(std::string_view name) {
  name.remove_prefix(name.rfind(':') + 1);  // of npos: 0
  std::string kind(name);
  std::erase(kind, '_');
  return kind;
}

bool are_of_a_kind(const Trace& trace, EventId call, EventId range) {
  const std::string one = kind_of(trace.name(call));
  const std::string other = kind_of(trace.name(range));
  return one.starts_with(other) || other.starts_with(one);
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
  const auto may_start = [&](std::size_t at, EventId range) {
    const TrackId thread = events.track(calls[at]);
    const TrackId own = events.track(range);
    if (is_taken[at] || trace.track(thread).process != trace.track(own).process) return false;
    return thread != own || events.end_ns(calls[at]) >= events.start_ns(range);
  };
  std::size_t first = 0;  // all before are taken
  for (analyses::HostCollective& one : found) {
    while (first < calls.size() && is_taken[first]) ++first;
    const auto end = static_cast<std::size_t>(
        std::ranges::upper_bound(calls, events.start_ns(one.range), {},
                                 [&](EventId call) { return events.start_ns(call); }) -
        calls.begin());
    // Those of one kind begin in the order of their calls. A name that is not known is that of the
    // last call.
    std::size_t call = first;
    while (call < end &&
           !(may_start(call, one.range) && are_of_a_kind(trace, calls[call], one.range)))
      ++call;
    if (call == end) {
      while (call > first && !may_start(call - 1, one.range)) --call;
      if (call == first) continue;
      --call;
    }
    is_taken[call] = true;
    one.call = calls[call];
  }
  // When one could have begun is not known without its call.
  std::erase_if(found, [](const auto& one) { return one.call == EventId::none; });
  return found;
}

}  // namespace tbtrace::jobs
