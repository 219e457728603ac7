// What grows from step to step.
// Results own their data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "snapshots/holders.h"
#include "snapshots/replay.h"

namespace tbtrace::snapshots {

/// Ends of steps as moments, in order, and how they are known.
struct StepEnds {
  std::vector<Moment> moments;
  std::string_view by;  ///< `ProfilerStep`, `Optimizer.step`, `optimizer frames`; empty: not known
};
StepEnds step_ends(const DeviceReplay& replay, Origins& origins);

struct Growth {
  HolderKey key;
  std::int64_t per_step_bytes = 0;  ///< median of the differences
  std::int64_t first_bytes = 0;     ///< at the end of the first step
  std::int64_t last_bytes = 0;
  std::int64_t rises = 0;  ///< steps at whose end there was more than before
  std::int64_t steps = 0;
  std::int64_t since_step = 0;  ///< from 1 on: the first after which it never fell, and rose
  std::int64_t falls = 0;       ///< steps at whose end there was less than before
  std::int64_t last_rise = 0;   ///< by how much the last step differs from the one before

  /// It goes on: four steps or more, of which most rose, also the last one, and none fell. What is
  /// allocated once, or freed every few steps, is not a leak.
  bool is_steady() const {
    constexpr std::int64_t kLeast = 4;
    return steps >= kLeast && rises * 2 > steps - 1 && falls == 0 && last_rise > 0 &&
           per_step_bytes > 0;
  }
};

/// Those that hold more at the end of the last step than of the first, the fastest first.
std::vector<Growth> growth_of(const DeviceReplay& replay, Grouping& grouping,
                              const StepEnds& steps);

/// Median of the differences between values; 0 with less than two.
std::int64_t median_difference(const std::vector<std::int64_t>& values);

}  // namespace tbtrace::snapshots
