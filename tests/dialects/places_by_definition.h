// What stands where after moves and shortenings, and whether two ranges of a place cross, by
// looking at all pairs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/trace.h>

#include "dialects/crossings.h"

namespace tbtrace::dialects {

/// A range as it is written.
struct Placed {
  EventId event = EventId::none;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

/// Ranges by track and lane; lane 0 is the track itself.
using PlacedRanges = std::map<std::pair<std::size_t, std::uint32_t>, std::vector<Placed>>;

inline PlacedRanges placed(const Trace& trace, const Crossings& crossings) {
  std::vector<std::uint32_t> lanes(trace.events().size());
  std::vector<std::int64_t> durations;
  for (std::size_t row = 0; row < lanes.size(); ++row) {
    durations.push_back(trace.events().duration_ns(static_cast<EventId>(row)));
  }
  for (const Crossings::Move& move : crossings.moved) lanes[index(move.event)] = move.lane;
  for (const Crossings::Shorter& shorter : crossings.shortened) {
    durations[index(shorter.event)] = shorter.duration_ns;
  }
  PlacedRanges ranges;
  for (std::size_t row = 0; row < lanes.size(); ++row) {
    const auto event = static_cast<EventId>(row);
    const std::int64_t start = trace.events().start_ns(event);
    ranges[{index(trace.events().track(event)), lanes[row]}].push_back(
        {event, start, start + durations[row]});
  }
  return ranges;
}

/// One starts inside the other, neither at its start nor at its end, and ends behind it.
inline bool cross(const Placed& a, const Placed& b) {
  const Placed& first = a.start_ns <= b.start_ns ? a : b;
  const Placed& second = a.start_ns <= b.start_ns ? b : a;
  return first.start_ns < second.start_ns && second.start_ns < first.end_ns &&
         second.end_ns > first.end_ns;
}

/// The same for a reader that has doubles of microseconds and adds them.
inline bool cross_as_doubles(const Placed& a, const Placed& b, std::int64_t origin_ns) {
  const auto microseconds = [](std::int64_t ns) { return static_cast<double>(ns) / 1000.0; };
  const auto start = [&](const Placed& range) { return microseconds(range.start_ns - origin_ns); };
  const auto end = [&](const Placed& range) {
    return start(range) + microseconds(range.end_ns - range.start_ns);
  };
  const Placed& first = start(a) <= start(b) ? a : b;
  const Placed& second = start(a) <= start(b) ? b : a;
  return start(first) < start(second) && start(second) < end(first) && end(second) > end(first);
}

/// The first two ranges of a place that cross, exactly or, where only ranges of the host are, as
/// doubles; empty if there are none. What has work in it must not end before that.
inline std::string crossing_pair(const Trace& trace, const Crossings& crossings,
                                 std::int64_t origin_ns) {
  for (const auto& [place, ranges] : placed(trace, crossings)) {
    const bool all_of_host = std::all_of(ranges.begin(), ranges.end(), [&](const Placed& range) {
      return is_host_range(trace.kind(range.event));
    });
    for (std::size_t a = 0; a < ranges.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        const bool exactly = cross(ranges[a], ranges[b]);
        if (!exactly && !(all_of_host && cross_as_doubles(ranges[a], ranges[b], origin_ns))) {
          continue;
        }
        std::ostringstream text;
        text << "event " << index(ranges[b].event) << " [" << ranges[b].start_ns << ", "
             << ranges[b].end_ns << ") and event " << index(ranges[a].event) << " ["
             << ranges[a].start_ns << ", " << ranges[a].end_ns << ") in lane " << place.second
             << (exactly ? "" : " as doubles");
        return text.str();
      }
    }
  }
  return {};
}

}  // namespace tbtrace::dialects
