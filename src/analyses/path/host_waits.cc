#include "analyses/path/host_waits.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "analyses/path/graph.h"
#include "base/time_ranges.h"

namespace tbtrace::analyses {
namespace {

bool may_wait(const Trace& trace, EventId range) {
  if (range == EventId::none) return true;
  const EventKind kind = trace.kind(range);
  if (kind != EventKind::cpu_op && kind != EventKind::runtime) return true;
  return trace.name(range).ends_with("::wait_tensor");
}

/// The time around `end` in which the innermost range of a thread is the same, if it may wait
/// there.
std::optional<TimeRange> stretch_at(const Trace& trace, std::span<const HostStretch> stretches,
                                    std::int64_t end) {
  const auto next = std::ranges::partition_point(
      stretches, [&](const HostStretch& each) { return each.end < end; });
  if (next == stretches.end() || next == stretches.begin()) return std::nullopt;
  const bool is_between = next->start >= end;
  if (!may_wait(trace, is_between ? EventId::none : next->range)) return std::nullopt;
  return is_between ? TimeRange{(next - 1)->end, next->start} : TimeRange{next->start, next->end};
}

}  // namespace

std::vector<HostWait> find_host_waits(const Trace& trace, const HostTime& host,
                                      std::span<const HostCollective> collectives) {
  const Events& events = trace.events();
  std::map<std::pair<TrackId, std::int64_t>, std::pair<HostWait, std::int64_t>> waits;
  for (std::uint32_t number = 0; number < collectives.size(); ++number) {
    const HostCollective& one = collectives[number];
    const TrackId thread = events.track(one.call);
    const std::int64_t end = events.end_ns(one.range);
    const std::optional<TimeRange> time = stretch_at(trace, host.of(thread), end);
    if (!time || time->start >= end) continue;
    auto& [wait, goes_on] = waits[{thread, time->start}];
    wait.thread = thread;
    wait.stops = time->start;
    wait.resumes = wait.collectives.empty() ? end : std::max(wait.resumes, end);
    wait.collectives.push_back(number);
    goes_on = time->end;
  }
  std::vector<HostWait> found;
  for (auto& [key, each] : waits) {
    auto& [wait, goes_on] = each;
    if (wait.resumes - wait.stops >= goes_on - wait.resumes) found.push_back(std::move(wait));
  }
  return found;
}

}  // namespace tbtrace::analyses
