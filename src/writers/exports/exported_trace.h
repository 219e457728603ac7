// A trace as formats of other tools take it: its tracks, its ranges in the order in which they are
// drawn, its counters. Refers to the trace. Immutable after construction.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/timeline/tracks.h"
#include "base/bounded_sum.h"

namespace tbtrace::writers {

/// A quantity whose values hold until the next.
struct ExportedCounter {
  std::string name;  ///< `allocated on cuda:0`
  TrackKey process;
  bool is_bytes = false;
  struct Value {
    std::int64_t time_ns = 0;
    double value = 0;
  };
  std::vector<Value> values;  ///< by time
};

/// All values of all counters: of memory first.
std::vector<ExportedCounter> exported_counters(const Trace& trace);

struct ExportedTrace {
  ExportedTrace(const Trace& of, std::string_view called);

  /// From the earliest time to this one.
  std::int64_t since_first(std::int64_t time_ns) const {
    return std::max<std::int64_t>(0, bounded(WideInteger{time_ns} - first_ns));
  }

  const Trace& trace;
  std::string name;    ///< `rank 3`, may be empty
  std::string prefix;  ///< `rank 3: `
  /// Threads first, then streams, so that a call is before the work that it launches.
  std::vector<analyses::TimelineTrack> tracks;
  std::vector<EventId> events;  ///< by track, then by start, then the longer first
  std::vector<ExportedCounter> counters;
  std::int64_t first_ns = 0;  ///< the earliest time of anything in it
  /// What to add to times to get nanoseconds since 1970; nullopt if the file's clock counts from
  /// elsewhere.
  std::optional<std::int64_t> wall_ns;
  /// The processes of several ranks are in it, so that nothing says whose a device is.
  bool is_merged = false;
};

}  // namespace tbtrace::writers
