// NVIDIA's driver: whether it is installed, its devices, and waiting for them.
// Never unloaded. Immutable once it is open, so any thread may use it. If there is no driver, or an
// old one, or no device, opening fails with a sentence that says what to do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/status.h>

#include "cupti/abi.h"
#include "recorder/log/device_trace.h"

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
  ResultCode synchronize() const;

 private:
  struct Functions {
    ResultCode (*init)(unsigned) = nullptr;
    ResultCode (*version)(int*) = nullptr;
    ResultCode (*device_count)(int*) = nullptr;
    ResultCode (*device)(int*, int) = nullptr;
    ResultCode (*device_name)(char*, int, int) = nullptr;
    ResultCode (*device_memory)(std::size_t*, int) = nullptr;
    ResultCode (*device_attribute)(int*, int, int) = nullptr;
    ResultCode (*context_state)(int, unsigned*, int*) = nullptr;
    ResultCode (*retain_context)(void**, int) = nullptr;
    ResultCode (*release_context)(int) = nullptr;
    ResultCode (*push_context)(void*) = nullptr;
    ResultCode (*pop_context)(void**) = nullptr;
    ResultCode (*synchronize)() = nullptr;
    ResultCode (*error_name)(ResultCode, const char**) = nullptr;
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
