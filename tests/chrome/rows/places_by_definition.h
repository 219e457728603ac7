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

#include "chrome/rows/crossings.h"
#include "chrome/rows/reader_times.h"

namespace tbtrace::chrome {

/// A range as it is written.
struct Placed {
  EventId event = EventId::none;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

/// Ranges by track and lane; lane 0 is the track itself.
using PlacedRanges = std::map<std::pair<std::size_t, std::uint32_t>, std::vector<Placed>>;

/// In Kineto's dialect without device rows, which may cross.
inline PlacedRanges placed(const Trace& trace, const Crossings& crossings,
                           Dialect dialect = Dialect::plugin) {
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
    if (dialect == Dialect::kineto && is_device_row(trace.kind(event))) continue;
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
  const auto start = [&](const Placed& range) { return read_us(range.start_ns - origin_ns); };
  const auto end = [&](const Placed& range) {
    return start(range) + read_us(range.end_ns - range.start_ns);
  };
  const Placed& first = start(a) <= start(b) ? a : b;
  const Placed& second = start(a) <= start(b) ? b : a;
  return start(first) < start(second) && start(second) < end(first) && end(second) > end(first);
}

/// Of two that only cross as doubles, the one that would have to end earlier is work or has some in
/// it.
inline bool keeps_its_end(const Trace& trace, const std::vector<Placed>& ranges, const Placed& a,
                          const Placed& b) {
  const Placed& first = a.start_ns <= b.start_ns ? a : b;
  const Placed& second = a.start_ns <= b.start_ns ? b : a;
  const Placed& shorter = second.start_ns >= first.end_ns ? first : second;
  return std::any_of(ranges.begin(), ranges.end(), [&](const Placed& work) {
    return is_device_work(trace.kind(work.event)) && work.start_ns >= shorter.start_ns &&
           work.end_ns <= shorter.end_ns;
  });
}

/// The first two ranges of a place that cross, exactly or, where work does not prevent the mending,
/// as doubles; empty if there are none.
inline std::string crossing_pair(const Trace& trace, const Crossings& crossings,
                                 std::int64_t origin_ns, Dialect dialect = Dialect::plugin) {
  for (const auto& [place, ranges] : placed(trace, crossings, dialect)) {
    for (std::size_t a = 0; a < ranges.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        const bool exactly = cross(ranges[a], ranges[b]);
        if (!exactly && !cross_as_doubles(ranges[a], ranges[b], origin_ns)) continue;
        if (!exactly && keeps_its_end(trace, ranges, ranges[a], ranges[b])) continue;
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

}  // namespace tbtrace::chrome
