#include "analyses/timeline/flows.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/column.h"
#include "trace/links.h"
#include "trace/scoped_ids.h"

namespace tbtrace::analyses {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
/// So many ranges before the time of an arrow are looked at for the one that it starts or ends in.
constexpr std::size_t kMostBefore = 64;

class FlowSearch {
 public:
  FlowSearch(const Trace& trace, const std::vector<TimelineTrack>& tracks,
             std::span<const EventId> events)
      : trace_(trace), events_(events), of_track_(trace.tracks().size()) {
    range_.resize(trace.events().size(), kNone);
    for (std::size_t range = 0; range < events.size(); ++range) {
      range_[index(events[range])] = static_cast<std::uint32_t>(range);
    }
    std::size_t range = 0;
    for (const TimelineTrack& track : tracks) {
      if (track.ranges == 0) continue;  // it may be no track of the trace
      const std::size_t begin = range;
      while (range < events.size() && trace.events().track(events[range]) == track.id) ++range;
      of_track_[index(track.id)] = {begin, range};
    }
  }

  std::vector<TimelineFlow> launches() const {
    std::vector<TimelineFlow> flows;
    for (const DeviceLink& link : links_of(trace_).device_work()) {
      if (link.launch != EventId::none) add(flows, range_[index(link.launch)], link.activity);
    }
    return ordered(std::move(flows));
  }

  std::vector<TimelineFlow> forward_backward() const {
    std::vector<TimelineFlow> flows;
    const Links& links = links_of(trace_);
    ScopedIds starts(links.scopes());
    for (std::size_t row = 0; row < trace_.flows().size(); ++row) {
      const FlowEnd& end = trace_.flows()[row];
      if (end.type != FlowEnd::Type::forward_backward || !end.start) continue;
      starts.insert(links.scope(end.track), end.id, static_cast<std::uint32_t>(row));
    }
    for (const FlowEnd& end : trace_.flows()) {
      if (end.type != FlowEnd::Type::forward_backward || end.start) continue;
      const std::uint32_t start = starts.find(links.scope(end.track), end.id);
      if (start == ScopedIds::kNone) continue;
      const std::uint32_t from = range_at(trace_.flows()[start]);
      const std::uint32_t to = range_at(end);
      if (from != kNone && to != kNone) flows.push_back({from, to});
    }
    return ordered(std::move(flows));
  }

 private:
  void add(std::vector<TimelineFlow>& flows, std::uint32_t from, EventId to) const {
    const std::uint32_t range = range_[index(to)];
    if (from != kNone && range != kNone) flows.push_back({from, range});
  }

  static std::vector<TimelineFlow> ordered(std::vector<TimelineFlow> flows) {
    std::ranges::sort(flows, {},
                      [](const TimelineFlow& flow) { return std::pair(flow.from, flow.to); });
    return flows;
  }

  /// The outermost operator that starts at the end of an arrow, else the innermost range around it.
  std::uint32_t range_at(const FlowEnd& end) const {
    const auto [begin, behind] = of_track_[index(end.track)];
    const Events& events = trace_.events();
    const auto starts_later = [&](std::int64_t time, EventId event) {
      return time < events.start_ns(event);
    };
    const auto last = std::upper_bound(events_.begin() + static_cast<std::ptrdiff_t>(begin),
                                       events_.begin() + static_cast<std::ptrdiff_t>(behind),
                                       end.time_ns, starts_later);
    std::uint32_t found = kNone;
    std::uint32_t around = kNone;
    auto range = static_cast<std::size_t>(last - events_.begin());
    for (std::size_t seen = 0; range > begin && seen < kMostBefore; ++seen) {
      --range;
      const EventId event = events_[range];
      const bool starts_here = events.start_ns(event) == end.time_ns;
      if (!starts_here && found != kNone) break;
      if (starts_here && trace_.kind(event) == EventKind::cpu_op) {
        found = static_cast<std::uint32_t>(range);
      }
      if (around == kNone && events.end_ns(event) >= end.time_ns) {
        around = static_cast<std::uint32_t>(range);
      }
    }
    return found != kNone ? found : around;
  }

  const Trace& trace_;
  std::span<const EventId> events_;
  Column<std::uint32_t> range_;                                // by event
  std::vector<std::pair<std::size_t, std::size_t>> of_track_;  // its ranges: first, after the last
};

}  // namespace

std::vector<TimelineFlows> timeline_flows(const Trace& trace,
                                          const std::vector<TimelineTrack>& tracks,
                                          std::span<const EventId> events) {
  std::vector<TimelineFlows> flows;
  const FlowSearch search(trace, tracks, events);
  flows.push_back({"launch", search.launches()});
  flows.push_back({"forward_backward", search.forward_backward()});
  std::erase_if(flows, [](const TimelineFlows& of) { return of.flows.empty(); });
  return flows;
}

}  // namespace tbtrace::analyses
