// Hears of the blocks of CUDA's caching allocator, where LibTorch has it.
// Watching is for the thread that records; the blocks may come and go on any thread. The allocator
// tells for the process's life once it was asked to; while nothing is recorded nobody listens.
#pragma once

#include <cstddef>
#include <memory>

#include <tbtrace/status.h>

#include "libtorch/record/observer.h"
#include "recorder/log/device_journal.h"
#include "recorder/log/device_memory.h"

namespace tbtrace::libtorch {

/// From now on what the allocator does is kept for the recording of the slot: its totals, and the
/// events of threads that `observer` hears (of all threads with `all_threads`); in the journal as
/// well, where there is one. The Status says why
/// the allocator does not tell. Where LibTorch has no CUDA, or no device was used so far, there is
/// nothing, and success; likewise in a fork.
Status watch_device_memory(std::size_t slot, ObserverHandle observer, bool all_threads,
                           std::shared_ptr<recorder::DeviceMemoryJournal> journal);
/// What there was since.
recorder::DeviceMemory stop_watching_device_memory(std::size_t slot);

}  // namespace tbtrace::libtorch
