// Turns running out of memory into a sentence and an exit code, like any other failure.
// Any thread.
#pragma once

#include <new>
#include <stdexcept>

#include <tbtrace/status.h>

namespace tbtrace::tools {

/// Returns the result of `work`, a Status or a Result; a failure of code out_of_memory if it ran
/// out of memory. `threads`: how many it uses, 0 for all cores.
template <typename Work>
auto within_memory(const Work& work, int threads = 1) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    // Reported below, when the memory of `work` has been freed.
  } catch (const std::length_error&) {
    // A size beyond all available memory.
  }
  return out_of_memory(threads);
}

}  // namespace tbtrace::tools
