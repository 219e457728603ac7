// Instants of a timeline: moments on tracks that a program named. Results own all their data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/timeline/tracks.h"

namespace tbtrace::analyses {

struct TimelineMark {
  std::int64_t time_ns = 0;  ///< since the start of the window
  std::uint32_t track = 0;   ///< index in Timeline::tracks
  std::string name;
  std::string arguments;  ///< JSON, may be empty
};

struct TimelineMarks {
  std::vector<TimelineMark> marks;  ///< by track, then by time
  std::size_t left_out = 0;
};

/// Those with a time in [from_ns, to_ns). Of more than 10,000 some remain, evenly spread over their
/// number. Without torch's own two, which say when the recording began and ended. `tracks`: as
/// timeline_tracks() gives them.
TimelineMarks timeline_marks(const Trace& trace, const std::vector<TimelineTrack>& tracks,
                             std::int64_t from_ns, std::int64_t to_ns);

/// Whether torch's profiler wrote it to say when a recording began or ended.
bool is_of_recording(const Trace& trace, StringId instant_name);

}  // namespace tbtrace::analyses
