// Which time of host threads is a wait of a thread that does not do the steps: idle, not cost.
// Made for one Trace, which must outlive it. Immutable.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <tbtrace/trace.h>

#include "trace/call_tree.h"

namespace tbtrace::analyses {

/// Whether a Python frame is a function that waits: for a lock, a queue, a thread, a process, a
/// socket, a future or the clock (`threading.py(327): wait`, `<built-in method acquire of
/// _thread.lock object at 0x7f20>`).
bool is_wait(std::string_view frame);

/// A wait on a thread of the steps is cost: the program stands still. So it is on autograd's
/// threads. The threads of the steps are those with steps; in a process without any, those that run
/// the main script; without that too, those that run operators. Other threads (monitors,
/// prefetchers, pools) wait for work most of the time, and Python frames cover that time as if it
/// were spent.
class IdleThreads {
 public:
  explicit IdleThreads(const Trace& trace);

  /// Whether the self time of a host range is idle: it waits, or it called nothing from the first
  /// to the last event of its process, on a thread that is not one of the steps.
  bool is_idle(EventId range) const {
    const TrackId track = trace_.events().track(range);
    return !is_busy_[index(track)] && waits(range);
  }

 private:
  void find_threads(const CallTree& tree);
  void find_stuck(const CallTree& tree);
  bool waits(EventId range) const;

  const Trace& trace_;
  std::vector<bool> is_busy_;   // by track: its waits are cost
  std::vector<EventId> stuck_;  // sorted: frames that called nothing in the whole recording
};

}  // namespace tbtrace::analyses
