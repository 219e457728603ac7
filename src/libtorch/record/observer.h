// Hears of operators and ranges through LibTorch's RecordFunction and writes them into logs.
// Adding and removing is for the thread that records; callbacks run on any thread and do not throw.
// They take no locks once a thread has its log, but for walking stacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace at {
struct StepCallbacks;
}

namespace tbtrace::libtorch {

struct ObserverOptions {
  bool ranges = true;  ///< otherwise it only marks which threads are recorded
  bool inputs = false;
  bool context = false;         ///< stacks and modules, as the recording's options say
  bool check_launches = false;  ///< CUPTI is told of operators, too
  bool all_threads = false;  ///< otherwise the calling thread and what its ThreadLocalState reaches
};

/// A callback's handle at torch.
using ObserverHandle = std::uint64_t;

/// From now on what runs is written into the recording of the slot, which is of the same reach.
ObserverHandle add_observer(std::size_t slot, const ObserverOptions& options);
/// Any thread.
void remove_observer(ObserverHandle handle);

/// Writes into the logs of the observers among the callbacks, which are the calling thread's.
void record_instant(const at::StepCallbacks& callbacks, std::string_view name,
                    std::string_view arguments) noexcept;
void record_counter(const at::StepCallbacks& callbacks, std::string_view name,
                    double value) noexcept;

/// Whether this observer sees what the calling thread runs.
bool observes_this_thread(ObserverHandle handle);

/// What torch does not hand on of a range: of its name, which is any bytes, only what stands before
/// a zero byte, what the program says of it, and that it is a module's forward, whose name is its
/// class. While one lives, it is the range that the thread begins next.
class NextRange {
 public:
  /// `arguments` as recorder/log/range_arguments.h has them.
  explicit NextRange(std::string_view name, std::string_view arguments,
                     const void* module = nullptr);
  ~NextRange();
  NextRange(const NextRange&) = delete;
  NextRange& operator=(const NextRange&) = delete;
};

}  // namespace tbtrace::libtorch
