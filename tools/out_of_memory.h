// What happens when memory runs out: a sentence and an exit code, as after any other failure.
// Any thread.
#pragma once

#include <new>
#include <stdexcept>
#include <string>

#include <tbtrace/status.h>

namespace tbtrace::tools {

inline constexpr const char* kOutOfMemory =
    "needs more memory than there is; read with --threads 1, raise the limit of memory (ulimit -v) "
    "or use a larger machine";

/// What `work` returns, a Status or a Result; a failure of code out_of_memory if there was not
/// enough for it.
template <typename Work>
auto within_memory(const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    // Told below, when all that `work` had is given back.
  } catch (const std::length_error&) {
    // So large that nobody has as much.
  }
  return Status(StatusCode::out_of_memory, kOutOfMemory);
}

}  // namespace tbtrace::tools
