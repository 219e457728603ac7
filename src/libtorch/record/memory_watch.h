// Hears of the CPU allocator's blocks, by standing between LibTorch and the allocator it had.
// Watching is for the thread that records; the blocks may come and go on any thread. The watch
// stays for the process's life once it was begun, since blocks outlive recordings; while nothing is
// recorded LibTorch allocates from its own allocator again.
#pragma once

#include <cstddef>

#include "libtorch/record/observer.h"

namespace tbtrace::libtorch {

/// Memory events of threads that `observer` hears (of all threads with `all_threads`) go into the
/// recording of the slot.
void watch_memory(std::size_t slot, ObserverHandle observer, bool all_threads);
void stop_watching_memory(std::size_t slot);

}  // namespace tbtrace::libtorch
