// What happens when memory runs out: a sentence and an exit code, as after any other failure.
// Any thread.
#pragma once

#include <new>
#include <stdexcept>

#include <tbtrace/status.h>

namespace tbtrace::tools {

/// What `work` returns, a Status or a Result; a failure of code out_of_memory if there was not
/// enough for it. `threads`: how many it uses, 0 for all cores.
template <typename Work>
auto within_memory(const Work& work, int threads = 1) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    // Told below, when all that `work` had is given back.
  } catch (const std::length_error&) {
    // So large that nobody has as much.
  }
  return out_of_memory(threads);
}

}  // namespace tbtrace::tools
