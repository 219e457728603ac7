// When a sum of no operations says that nothing was computed. A pure function.
#pragma once

namespace tbtrace::analyses {

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
