// When threads run operators and calls of a device's runtime.
// Owns its rows; made from a Trace and valid for it alone. Immutable.
#pragma once

#include <cstddef>
#include <vector>

#include <tbtrace/trace.h>

#include "base/time_ranges.h"

namespace tbtrace::analyses {

struct BusyThread {
  std::vector<TimeRange> times;      ///< of operators and calls, by start
  std::vector<bool> holds_backward;  ///< by time: one of them is a node of autograd's graph
  bool any_backward = false;
};

class BusyThreads {
 public:
  /// `runs_steps` by track.
  BusyThreads(const Trace& trace, std::vector<bool> runs_steps);

  std::size_t size() const { return threads_.size(); }
  const BusyThread& of(std::size_t track) const { return threads_[track]; }
  bool runs_steps(std::size_t track) const { return runs_steps_[track]; }
  bool are_of_one_process(std::size_t one, std::size_t other) const {
    return trace_.tracks()[one].process == trace_.tracks()[other].process;
  }

  /// Whether a thread that did nothing for a time may have waited there for another one of its
  /// process, which runs no steps: that was busy for half of the time, and ended shortly before
  /// the thread went on.
  bool may_wait(TrackId thread, TimeRange time) const;

 private:
  const Trace& trace_;
  std::vector<bool> runs_steps_;
  std::vector<BusyThread> threads_;  // by track
};

}  // namespace tbtrace::analyses
