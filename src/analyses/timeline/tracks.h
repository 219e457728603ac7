// The tracks of a timeline: threads and streams, what they are called, and in which order people
// see them. Results own their texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/trace.h>

namespace tbtrace::analyses {

enum class TimelineTrackKind : std::uint8_t {
  thread,
  stream,
  other,  ///< the recording's own window and the like
};

struct TimelineTrack {
  TrackId id = {};  ///< means nothing for tracks without ranges
  TrackKey process_key = {};
  TrackKey thread_key = {};
  std::string name;     ///< `thread 12 (main)`, `stream 7`
  std::string process;  ///< `python (4711)`, `GPU 0`
  TimelineTrackKind kind = TimelineTrackKind::thread;
  std::optional<std::int64_t> device = {};  ///< of a stream: its device
  std::size_t ranges = 0;
  std::uint32_t rows = 0;  ///< how many lines its ranges need
};

/// Those with ranges: the threads of a process together, its main thread first, then in the order
/// of their first ranges; then streams by device, and threads with less than a hundredth of the
/// ranges of the busiest one; at last those that have only instants. `rows` are not set.
std::vector<TimelineTrack> timeline_tracks(const Trace& trace);

/// `python (4711)`.
std::string process_label(const Trace& trace, const TrackKey& process);

}  // namespace tbtrace::analyses
