#include "libtorch/record/log_of_this_thread.h"

#include <atomic>

#include "recorder/log/recording.h"

namespace tbtrace::libtorch {

recorder::ThreadLog* find_log(std::size_t slot) noexcept {
  try {
    return recorder::active_detail::join_recording(slot);
  } catch (...) {
    recorder::lost_without_log.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
}

}  // namespace tbtrace::libtorch
