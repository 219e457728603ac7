// Times of a part on the clock of the merged trace.
// A value; any thread.
#pragma once

#include <cmath>
#include <cstdint>

#include <tbtrace/merge.h>

#include "base/bounded_sum.h"

namespace tbtrace::jobs {

class PartTimes {
 public:
  PartTimes() = default;
  /// `shift_ns`: what brings the part's times to the common base. `correction`: for times in ns
  /// since 1970, which are those of the file and `base_ns`.
  PartTimes(std::int64_t shift_ns, const ClockCorrection& correction, std::int64_t base_ns)
      : shift_ns_(bounded_sum(shift_ns, correction.offset_ns)),
        drift_(correction.drift_ppm * 1e-6),
        at_ns_(bounded(WideInteger{correction.at_ns} - base_ns)) {}

  /// Times stay as the file has them.
  bool is_identity() const { return shift_ns_ == 0 && drift_ == 0; }

  bool keeps_durations() const { return drift_ == 0; }

  std::int64_t operator()(std::int64_t ns) const {
    std::int64_t moved = bounded_sum(ns, shift_ns_);
    if (drift_ == 0) return moved;
    const auto since = static_cast<double>(WideInteger{ns} - at_ns_);
    const double drifted = drift_ * since;
    constexpr double kMost = 1e18;
    if (!(std::abs(drifted) < kMost)) return moved;
    moved = bounded_sum(moved, std::llround(drifted));
    return moved;
  }

  /// Of a range: so that ranges in one another stay so, its end is moved, too.
  std::int64_t duration(std::int64_t start_ns, std::int64_t duration_ns) const {
    if (drift_ == 0) return duration_ns;
    const PartTimes& self = *this;
    return bounded(WideInteger{self(bounded_sum(start_ns, duration_ns))} - self(start_ns));
  }

 private:
  std::int64_t shift_ns_ = 0;
  double drift_ = 0;
  std::int64_t at_ns_ = 0;
};

}  // namespace tbtrace::jobs
