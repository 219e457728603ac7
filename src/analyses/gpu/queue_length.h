// How many activities wait on a device: launched, but not started.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time_ranges.h"

namespace tbtrace::analyses {

class QueueLength {
 public:
  /// Only what lies in the window counts.
  explicit QueueLength(TimeRange window) : window_(window) {}

  /// An activity that waited from its launch to its start. One that started before its launch, as
  /// clocks that differ can show, did not wait.
  void add(TimeRange wait);

  /// Over the window; 0 for an empty window.
  double mean() const;

  /// The most at any time. An activity that starts when another one is launched makes room first.
  std::uint64_t max() const;

 private:
  TimeRange window_;
  std::vector<std::int64_t> launches_;
  std::vector<std::int64_t> starts_;
};

}  // namespace tbtrace::analyses
