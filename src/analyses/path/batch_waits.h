// Where a thread waits for a batch that processes of the data loader make.
// Results are plain values. Pure function.
#pragma once

#include <cstdint>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/path/busy_threads.h"

namespace tbtrace::analyses {

/// A range that takes a batch from the processes of a data loader, and waits for it.
struct BatchWait {
  EventId range = EventId::none;
  /// The wait before, if the processes were busy between the two: then the time from its end to the
  /// end of this one is what they took for the batches, whatever the thread does.
  EventId before = EventId::none;
  /// Batches were there without a wait since the one before: made together, as several processes
  /// do, or while the thread did something else; then the processes may have rested.
  bool is_unclear = false;
};

/// Of threads that run steps; by thread, then by time.
std::vector<BatchWait> find_batch_waits(const Trace& trace, const BusyThreads& threads);

}  // namespace tbtrace::analyses
