// Curves beside a timeline: memory. Results own all their data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// A quantity whose values hold until the next.
struct TimelineCounter {
  std::string name;                    ///< `allocated on cuda:0`
  std::vector<std::int64_t> times_ns;  ///< since the start of the window
  std::vector<std::int64_t> values;    ///< in bytes
};

/// The memory that was allocated on each device. Of more than 2,000 points the lowest, the highest
/// and the last of each of several spans remain.
std::vector<TimelineCounter> timeline_counters(const Trace& trace);

}  // namespace tbtrace::analyses
