#include "chrome/plugin/arrows.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "base/column.h"
#include "base/id_map.h"
#include "base/nearest_integer.h"
#include "trace/links.h"
#include "trace/scoped_ids.h"
#include "trace/track_keys.h"

namespace tbtrace::chrome {
namespace {

/// Which ranges can have the end of a flow event at their start.
class ArrowEnds {
 public:
  ArrowEnds(const Trace& trace, const Crossings& crossings, std::int64_t origin_ns)
      : trace_(trace), unfit_(trace.events().size()) {
    std::map<std::pair<std::size_t, std::uint32_t>, std::int64_t> last_ends;  // by track and lane
    Column<std::uint32_t> lanes;
    lanes.resize(trace.events().size(), 0);
    for (const Crossings::Move& move : crossings.moved) lanes[index(move.event)] = move.lane;
    const auto rounded_us = [&](std::int64_t ns) {
      return nearest_integer(static_cast<double>(ns - origin_ns) / 1000.0);
    };
    for (const EventId event : trace.by_start()) {
      const std::int64_t start_ns = trace.events().start_ns(event);
      const std::int64_t end_ns = trace.events().end_ns(event);
      const auto [last, first] =
          last_ends.try_emplace({index(trace.events().track(event)), lanes[index(event)]}, end_ns);
      // chrome://tracing nests by whole microseconds: if an outermost range, so rounded, ends
      // with the previous one, it counts as inside that one and is not found at its start. Perfetto
      // closes ranges that end at a time before it looks for the open ranges at that time.
      const bool swallowed =
          !first && start_ns >= last->second && rounded_us(end_ns) <= rounded_us(last->second);
      unfit_[index(event)] = swallowed || end_ns - start_ns <= 1;
      last->second = std::max(last->second, end_ns);
    }
  }

  bool can_be(EventId from, EventId to) const {
    return trace_.events().start_ns(from) <= trace_.events().start_ns(to) && !unfit_[index(from)] &&
           !unfit_[index(to)];
  }

 private:
  const Trace& trace_;
  std::vector<bool> unfit_;
};

class ForwardBackward {
 public:
  ForwardBackward(const Trace& trace, const ArrowEnds& ends, Arrows& arrows)
      : trace_(trace), ends_(ends), arrows_(arrows) {}

  void run() {
    const Links& links = links_of(trace_);
    ScopedIds start_of_id(links.scopes());
    IdMap at_end;  // operators where a flow event has an end
    std::uint64_t ends = 0;
    const std::span<const FlowEnd> flows = trace_.flows();
    for (std::uint32_t row = 0; row < flows.size(); ++row) {
      if (flows[row].type != FlowEnd::Type::forward_backward) continue;
      ++ends;
      at_end.insert(place_key(flows[row].track, flows[row].time_ns), IdMap::kNone - 1);
      if (flows[row].start) start_of_id.insert(links.scope(flows[row].track), flows[row].id, row);
    }
    if (ends == 0) return;
    for (const EventId event : trace_.by_start()) {
      if (trace_.kind(event) != EventKind::cpu_op) continue;
      const std::int64_t place =
          place_key(trace_.events().track(event), trace_.events().start_ns(event));
      if (at_end.find(place) == IdMap::kNone - 1) {
        at_end.replace(place, static_cast<std::uint32_t>(event));
      }
    }
    const auto operator_at = [&](const FlowEnd& end) {
      const std::uint32_t row = at_end.find(place_key(end.track, end.time_ns));
      if (row >= IdMap::kNone - 1) return EventId::none;
      const auto event = static_cast<EventId>(row);
      const bool is_there = trace_.events().track(event) == end.track &&
                            trace_.events().start_ns(event) == end.time_ns;
      return is_there ? event : EventId::none;
    };
    std::uint64_t used = 0;
    std::uint32_t id = 0;
    ScopedIds ended(links.scopes());
    for (const FlowEnd& end : flows) {
      if (end.type != FlowEnd::Type::forward_backward || end.start) continue;
      const std::uint32_t scope = links.scope(end.track);
      const std::uint32_t start = start_of_id.find(scope, end.id);
      if (start == ScopedIds::kNone || ended.replace(scope, end.id, 0) != ScopedIds::kNone)
        continue;
      const EventId forward = operator_at(flows[start]);
      const EventId backward = operator_at(end);
      if (forward == EventId::none || backward == EventId::none) continue;
      if (!ends_.can_be(forward, backward)) continue;
      ++id;
      arrows_.ends.push_back({forward, id, Arrows::Kind::forward_backward, true});
      arrows_.ends.push_back({backward, id, Arrows::Kind::forward_backward, false});
      used += 2;
    }
    arrows_.left_out += ends - used;
  }

 private:
  const Trace& trace_;
  const ArrowEnds& ends_;
  Arrows& arrows_;
};

}  // namespace

Arrows make_arrows(const Trace& trace, const Crossings& crossings, std::int64_t origin_ns) {
  Arrows arrows;
  const ArrowEnds ends(trace, crossings, origin_ns);
  ForwardBackward(trace, ends, arrows).run();
  std::uint32_t id = 0;
  for (const DeviceLink& link : links_of(trace).device_work()) {
    if (link.launch == EventId::none) continue;
    if (!ends.can_be(link.launch, link.activity)) continue;
    ++id;
    arrows.ends.push_back({link.launch, id, Arrows::Kind::launch, true});
    arrows.ends.push_back({link.activity, id, Arrows::Kind::launch, false});
  }
  std::stable_sort(arrows.ends.begin(), arrows.ends.end(),
                   [](const auto& a, const auto& b) { return index(a.event) < index(b.event); });
  return arrows;
}

}  // namespace tbtrace::chrome
