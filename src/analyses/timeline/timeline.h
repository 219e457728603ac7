// A trace as it is drawn: its ranges by track, on lines, with flows, steps and counters.
// Results own all their data. Times are whole nanoseconds since the start of the trace's window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/status.h>
#include <tbtrace/trace.h>

#include "analyses/timeline/arguments.h"
#include "analyses/timeline/counters.h"
#include "analyses/timeline/flows.h"
#include "analyses/timeline/marks.h"
#include "analyses/timeline/tracks.h"
#include "base/column.h"

namespace tbtrace::analyses {

struct TimelineStep {
  std::int64_t number = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

/// A name with a category.
struct TimelineName {
  std::string name;
  std::uint32_t category = 0;  ///< index in Timeline::categories
};

struct TimelineCategory {
  std::string name;
  EventKind kind = EventKind::other;
};

struct Timeline {
  std::vector<TimelineTrack> tracks;

  // By range: by track, then by start, then the longer first.
  Column<std::int64_t> start_ns;
  Column<std::int64_t> duration_ns;
  Column<std::uint32_t> name;  ///< index in `names`
  /// The line of its track, on which no two ranges overlap; see rows.h.
  Column<std::uint32_t> row;
  std::vector<std::uint32_t> unfinished;  ///< the ranges that did not end, ascending

  std::vector<TimelineName> names;  ///< the most frequent first
  std::vector<TimelineCategory> categories;
  std::vector<TimelineFlows> flows;
  std::vector<TimelineStep> steps;
  TimelineCounters counters;
  TimelineMarks marks;
  std::vector<TimelineArgument> arguments;  ///< if they were asked for

  std::int64_t from_ns = 0;  ///< the earliest start of any range of the trace
  std::int64_t to_ns = 0;    ///< the latest end
  std::int64_t window_ns = 0;

  /// Ranges that a limit left out: the shortest ones.
  std::size_t left_out = 0;
  std::int64_t left_out_ns = 0;     ///< the longest of those
  bool has_more_arguments = false;  ///< arguments were read and not asked for

  std::size_t size() const { return start_ns.size(); }
};

/// Only the ranges that touch a part of the time, in ns since the start of the window.
struct TimelinePart {
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;  ///< does not belong to it
};

struct TimelineOptions {
  std::optional<TimelinePart> part = {};
  std::size_t ranges = std::numeric_limits<std::size_t>::max();  ///< the longest ones
  bool arguments = false;  ///< those that the trace was read with
};

Timeline timeline(const Trace& trace, const TimelineOptions& options = {});

/// All ranges: by track, then by start, then the longer first. `tracks`: as timeline_tracks() gives
/// them.
std::vector<EventId> drawing_order(const Trace& trace, const std::vector<TimelineTrack>& tracks);

/// The longest ranges, the earlier one of equal ones: their numbers, ascending.
std::vector<std::uint32_t> longest_ranges(const Column<std::int64_t>& durations_ns,
                                          std::size_t count);

/// Where a range is in the timeline of a trace; its name may be cut, and then ends in `…`.
struct TimelinePlace {
  std::size_t track = 0;  ///< in Timeline::tracks
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  std::string name;
  std::size_t nth = 0;  ///< of those with the same track, start, duration and name
};

/// EventId::none if there is none.
EventId range_at(const Trace& trace, const TimelinePlace& place);

}  // namespace tbtrace::analyses
