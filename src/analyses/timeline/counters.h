// Curves beside a timeline: memory, and the counters of a program. Results own all their data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// A quantity whose values hold until the next.
struct TimelineCounter {
  std::string name;                    ///< `allocated on cuda:0`, `loss`, `queue: waiting`
  std::string process = {};            ///< `python (4711)`; of memory it is in the name
  bool is_bytes = false;               ///< otherwise nobody says what the unit is
  std::size_t samples = 0;             ///< how many there were before they were thinned
  std::vector<std::int64_t> times_ns;  ///< since the start of the window
  std::vector<double> values;
};

struct TimelineCounters {
  std::vector<TimelineCounter> counters;  ///< memory first, then by process and name
  std::size_t left_out = 0;               ///< of more than 200 counters of the program
};

/// The memory that was allocated on each device, in bytes, and each series of each counter.
/// Of more than 2,000 points of memory the lowest, the highest and the last of each of several
/// spans remain. Of a counter with more than 16,000 values the first, the lowest, the highest and
/// the last of each of 4,000 equally long spans of its time remain; 500 spans if there are more
/// than 16 counters. Of counters only what holds in [from_ns, to_ns) is kept.
TimelineCounters timeline_counters(const Trace& trace, std::int64_t from_ns, std::int64_t to_ns);

}  // namespace tbtrace::analyses
