// NVIDIA's driver, as far as it is asked: whether there is one, what devices there are, and to wait
// for them.
// Never unloaded. Immutable once it is open, so any thread may use it. No driver, an old one, or
// one without a device is an error of opening, with what to do about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/status.h>

#include "cupti/abi.h"
#include "recorder/device_activity.h"

namespace tbtrace::cupti {

class DriverLibrary {
 public:
  /// Of `path`, the system's `libcuda.so.1` without it. Initialises CUDA in the process, as the
  /// first call of CUDA would. Where there is simply no GPU the Status has the code
  /// unreadable_input, where one cannot be used check_failed.
  static Result<DriverLibrary> open(const std::optional<std::string>& path = std::nullopt);

  int version() const { return version_; }  ///< of CUDA that it supports: 13000 is 13.0
  const std::vector<recorder::DeviceProperties>& devices() const { return devices_; }

  /// Until all devices have done what the process gave them so far, in the contexts that CUDA's
  /// runtime uses. Not to be called while a stream of this thread is being captured.
  Answer synchronize() const;

 private:
  struct Functions {
    Answer (*init)(unsigned) = nullptr;
    Answer (*version)(int*) = nullptr;
    Answer (*device_count)(int*) = nullptr;
    Answer (*device)(int*, int) = nullptr;
    Answer (*device_name)(char*, int, int) = nullptr;
    Answer (*device_memory)(std::size_t*, int) = nullptr;
    Answer (*device_attribute)(int*, int, int) = nullptr;
    Answer (*context_state)(int, unsigned*, int*) = nullptr;
    Answer (*retain_context)(void**, int) = nullptr;
    Answer (*release_context)(int) = nullptr;
    Answer (*push_context)(void*) = nullptr;
    Answer (*pop_context)(void**) = nullptr;
    Answer (*synchronize)() = nullptr;
    Answer (*error_name)(Answer, const char**) = nullptr;
  };

  DriverLibrary() = default;
  std::string missing_function(void* handle);
  void read_devices(int count);

  Functions functions_;
  int version_ = 0;
  std::vector<int> handles_;
  std::vector<recorder::DeviceProperties> devices_;
};

/// `13.0` of 13000.
std::string cuda_version_text(int version);
/// Of CUDA's runtime, if the process has mapped one; 0 otherwise.
int runtime_version();

}  // namespace tbtrace::cupti
