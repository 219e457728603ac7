// Where callbacks of LibTorch write: they must not throw.
// For the calling thread.
#pragma once

#include <cstddef>

#include "recorder/log/active.h"
#include "recorder/log/thread_log.h"

namespace tbtrace::libtorch {

/// Calls recorder::join_recording(). Without memory for a log it returns null, and the next call
/// tries again.
recorder::ThreadLog* find_log(std::size_t slot) noexcept;

/// The same as recorder::this_thread_log(), but null without memory for a log.
[[gnu::always_inline]] inline recorder::ThreadLog* log_of_this_thread(std::size_t slot) noexcept {
  using namespace recorder::active_detail;
  const ThreadSlot& own = thread_slots[slot];
  if (own.number == current[slot].load(std::memory_order_acquire)) [[likely]]
    return own.log;
  return find_log(slot);
}

}  // namespace tbtrace::libtorch
