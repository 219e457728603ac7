// What grows from step to step.
// Results own their data.
#pragma once

#include <cstdint>
#include <span>
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
  /// On average: from rise to rise if it is steady, else from the first step to the last.
  std::int64_t per_step_bytes = 0;
  std::int64_t first_bytes = 0;  ///< at the end of the first step
  std::int64_t last_bytes = 0;
  std::int64_t rises = 0;  ///< steps at whose end there was more than before
  std::int64_t steps = 0;
  std::int64_t since_step = 0;      ///< from 1 on: the first after which it never fell, and rose
  std::int64_t falls = 0;           ///< steps at whose end there was less than before
  std::int64_t since_rise = 0;      ///< steps from the last rise to the end
  std::int64_t shortest_pause = 0;  ///< steps from one rise to the next; 0 with less than two
  std::int64_t longest_pause = 0;

  /// It goes on, in each step or in each second or fourth: it rose three times or more, in most of
  /// the recording and up to its end, and never fell. What is allocated once, or freed every few
  /// steps, is not a leak.
  bool is_steady() const {
    constexpr std::int64_t kLeastSteps = 4;
    constexpr std::int64_t kLeastRises = 3;
    const bool is_regular = longest_pause <= 2 * shortest_pause && since_rise < longest_pause;
    const bool is_most = rises * longest_pause * 2 > steps - 1;
    const bool rises_mostly = rises * 2 > steps - 1 && since_rise == 0;
    return steps >= kLeastSteps && rises >= kLeastRises && falls == 0 &&
           (rises_mostly || (is_regular && is_most));
  }
};

/// Those that hold more at the end of the last step than of the first, the fastest first.
std::vector<Growth> growth_of(const DeviceReplay& replay, Grouping& grouping,
                              const StepEnds& steps);

/// From the first value to the last, by the steps between; 0 with less than two.
std::int64_t mean_difference(std::span<const std::int64_t> values);

}  // namespace tbtrace::snapshots
