// The threads that do the steps: only their waits hold up the program.
// Pure function, any thread.
#pragma once

#include <span>
#include <vector>

#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// By track, whether steps run on it: those of `step_events` (EventId::none is skipped). Without
/// steps, the thread of the first operator that is neither autograd's nor a data loader's; without
/// such an operator, all threads.
std::vector<bool> step_threads(const Trace& trace, std::span<const EventId> step_events);

}  // namespace tbtrace::analyses
