// The beginnings and ends of the ranges of one track, on lanes on which they nest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <tbtrace/trace.h>

#include "writers/exports/exported_trace.h"
#include "writers/exports/lanes.h"

namespace tbtrace::writers {

struct LaneEvent {
  std::int64_t time_ns = 0;  ///< since the first time of the trace
  std::uint32_t frame = 0;
  bool is_begin = false;
};

/// By lane; times do not go back. `first`: the place of the track's first range in
/// ExportedTrace::events. `frame_of` gives the number of the range's name.
template <typename FrameOf>
std::vector<std::vector<LaneEvent>> lane_events(const ExportedTrace& exported,
                                                const analyses::TimelineTrack& track,
                                                std::size_t first, FrameOf frame_of) {
  const Events& events = exported.trace.events();
  Lanes lanes;
  std::vector<std::vector<LaneEvent>> made;
  std::vector<std::vector<std::uint32_t>> open;  // by lane: frames
  const auto end = [&](std::size_t lane, std::int64_t time_ns) {
    made[lane].push_back({exported.since_first(time_ns), open[lane].back(), false});
    open[lane].pop_back();
  };
  for (std::size_t range = first; range < first + track.ranges; ++range) {
    const EventId event = exported.events[range];
    const std::size_t lane = lanes.place(events.start_ns(event), events.end_ns(event), end);
    if (lane >= made.size()) {
      made.resize(lane + 1);
      open.resize(lane + 1);
    }
    const std::uint32_t frame = frame_of(event);
    made[lane].push_back({exported.since_first(events.start_ns(event)), frame, true});
    open[lane].push_back(frame);
  }
  lanes.finish(end);
  return made;
}

}  // namespace tbtrace::writers
