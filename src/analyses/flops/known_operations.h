// What of a recording's work is in no sum of operations, and when a sum of none says that nothing
// was computed. Pure functions.
#pragma once

#include <cstdint>
#include <string>

#include <tbtrace/flops.h>

namespace tbtrace::analyses {

/// What it computes is in no sum.
constexpr bool is_uncounted(WorkState state) {
  return state == WorkState::no_rule || state == WorkState::unknown_sizes;
}

/// Rows that are in no sum, apart from communication, which computes nothing.
struct UncountedWork {
  bool on_device = false;   ///< times are of the device, else of the host
  std::uint64_t count = 0;  ///< of operators
  std::int64_t time_ns = 0;
  std::int64_t all_time_ns = 0;  ///< of all rows, also counted ones and communication
  std::string longest;           ///< its name
};

UncountedWork uncounted_work(const OperatorWorkSummary& summary);

/// Sums of a recording, or of several. `uncounted`: operators without a rule or without sizes.
struct WorkTotals {
  double counted = 0;  ///< FLOPs, or multiply-adds
  double uncounted = 0;
  double device_ns = 0;
  double cpu_ns = 0;
  double window_ns = 0;
};

/// False where no operator counts and some have no rule or no sizes, or where operators of the host
/// take less than half of the time: what ran outside of them, such as compiled code, is not in the
/// trace. Kernels on devices are always in it.
inline bool knows_operations(const WorkTotals& totals) {
  if (totals.counted > 0) return true;
  return totals.uncounted == 0 && (totals.device_ns > 0 || totals.cpu_ns >= totals.window_ns / 2);
}

}  // namespace tbtrace::analyses
