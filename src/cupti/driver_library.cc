#include "cupti/driver_library.h"

#include <array>
#include <type_traits>

#include <dlfcn.h>

#include "base/available_memory.h"
#include "cupti/loaded_library.h"

namespace tbtrace::cupti {

namespace {

constexpr const char* kDriver = "libcuda.so.1";

// CUresult (cuda.h).
constexpr ResultCode kNoDevice = 100;
constexpr ResultCode kStub = 34;
constexpr ResultCode kInsufficientDriver = 35;
constexpr ResultCode kDriverMismatch = 803;

/// Programs that ask for all that there is need not be told.
Status nothing_there(const std::string& sentence) {
  return {StatusCode::unreadable_input, sentence};
}
Status out_of_order(const std::string& sentence) { return {StatusCode::check_failed, sentence}; }

Status refused(ResultCode result, const char* name) {
  switch (result) {
    case kStub:
      return nothing_there(
          "the libcuda.so.1 that was found is the CUDA toolkit's stub, not a driver; remove its "
          "folder (lib64/stubs) from LD_LIBRARY_PATH, and install NVIDIA's driver");
    case kNoDevice:
      return nothing_there(
          "NVIDIA's driver sees no GPU; look at what nvidia-smi and the environment variable "
          "CUDA_VISIBLE_DEVICES say, and start containers with --gpus all");
    case kInsufficientDriver:
    case kDriverMismatch:
      return out_of_order(
          "NVIDIA's driver is older than the CUDA that the program uses; update the driver (and "
          "restart, if that was done just now)");
    default:
      return out_of_order("NVIDIA's driver does not start: cuInit() said " +
                          std::string(name == nullptr ? "error" : name) + " (" +
                          std::to_string(result) + "); look at what nvidia-smi says");
  }
}

}  // namespace

std::string cuda_version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

int runtime_version() {
  const std::string path = mapped_path("libcudart.so");
  if (path.empty()) return 0;
  void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (handle == nullptr) return 0;
  auto* const get = reinterpret_cast<int (*)(int*)>(::dlsym(handle, "cudaRuntimeGetVersion"));
  int version = 0;
  if (get == nullptr || get(&version) != 0) version = 0;
  ::dlclose(handle);  // that it was asked for, not the library
  return version;
}

Result<DriverLibrary> DriverLibrary::open(const std::optional<std::string>& path) {
  const std::string name = path.value_or(kDriver);
  if (is_static_program()) {
    return nothing_there("this program is linked statically, so it cannot load " + name +
                         " of NVIDIA's driver; link it dynamically");
  }
  void* const handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return nothing_there("there is no NVIDIA driver here (" + name +
                         " cannot be loaded); install it, and start containers with --gpus all");
  }
  DriverLibrary driver;
  if (const std::string missing = driver.missing_function(handle); !missing.empty()) {
    return out_of_order("NVIDIA's driver has no function " + missing +
                        ", so it is older than CUDA 11; update the driver");
  }
  if (const ResultCode result = driver.functions_.init(0); result != results::kSuccess) {
    const char* text = nullptr;
    if (driver.functions_.error_name(result, &text) != results::kSuccess) text = nullptr;
    return refused(result, text);
  }
  int count = 0;
  if (driver.functions_.version(&driver.version_) != results::kSuccess) driver.version_ = 0;
  if (driver.functions_.device_count(&count) != results::kSuccess || count <= 0) {
    return refused(kNoDevice, nullptr);
  }
  driver.read_devices(count);
  return driver;
}

/// Finds the functions; the name of one that is not there.
std::string DriverLibrary::missing_function(void* handle) {
  std::string missing;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(::dlsym(handle, name));
    if (function == nullptr && missing.empty()) missing = name;
  };
  find(functions_.init, "cuInit");
  find(functions_.version, "cuDriverGetVersion");
  find(functions_.device_count, "cuDeviceGetCount");
  find(functions_.device, "cuDeviceGet");
  find(functions_.device_name, "cuDeviceGetName");
  find(functions_.device_memory, "cuDeviceTotalMem_v2");
  find(functions_.device_attribute, "cuDeviceGetAttribute");
  find(functions_.context_state, "cuDevicePrimaryCtxGetState");
  find(functions_.retain_context, "cuDevicePrimaryCtxRetain");
  find(functions_.release_context, "cuDevicePrimaryCtxRelease_v2");
  find(functions_.push_context, "cuCtxPushCurrent_v2");
  find(functions_.pop_context, "cuCtxPopCurrent_v2");
  find(functions_.synchronize, "cuCtxSynchronize");
  find(functions_.error_name, "cuGetErrorName");
  return missing;
}

void DriverLibrary::read_devices(int count) {
  for (int number = 0; number < count; ++number) {
    int device = 0;
    if (functions_.device(&device, number) != results::kSuccess) continue;
    const auto attribute = [&](int which) {
      int value = 0;
      return functions_.device_attribute(&value, which, device) == results::kSuccess ? value : 0;
    };
    std::array<char, 256> name = {};
    if (functions_.device_name(name.data(), static_cast<int>(name.size()) - 1, device) !=
        results::kSuccess) {
      name[0] = '\0';
    }
    std::size_t memory = 0;
    if (functions_.device_memory(&memory, device) != results::kSuccess) memory = 0;
    handles_.push_back(device);
    devices_.push_back(
        {.id = static_cast<std::uint32_t>(number),
         .name = name.data(),
         .total_memory_bytes = memory,
         .compute_major = attribute(attributes::kComputeMajor),
         .compute_minor = attribute(attributes::kComputeMinor),
         .max_threads_per_block = attribute(attributes::kMaxThreadsPerBlock),
         .max_threads_per_multiprocessor = attribute(attributes::kMaxThreadsPerMultiprocessor),
         .max_blocks_per_multiprocessor = attribute(attributes::kMaxBlocksPerMultiprocessor),
         .registers_per_block = attribute(attributes::kMaxRegistersPerBlock),
         .registers_per_multiprocessor = attribute(attributes::kMaxRegistersPerMultiprocessor),
         .warp_size = attribute(attributes::kWarpSize),
         .shared_bytes_per_block = attribute(attributes::kMaxSharedMemoryPerBlock),
         .shared_bytes_per_block_optin = attribute(attributes::kMaxSharedMemoryPerBlockOptin),
         .shared_bytes_per_multiprocessor =
             attribute(attributes::kMaxSharedMemoryPerMultiprocessor),
         .reserved_shared_bytes_per_block = attribute(attributes::kReservedSharedMemoryPerBlock),
         .multiprocessors = attribute(attributes::kMultiprocessors)});
  }
}

ResultCode DriverLibrary::synchronize() const {
  ResultCode first_failure = results::kSuccess;
  const auto keep = [&](ResultCode result) {
    if (first_failure == results::kSuccess) first_failure = result;
    return result == results::kSuccess;
  };
  for (const int device : handles_) {
    unsigned flags = 0;
    int is_active = 0;
    if (!keep(functions_.context_state(device, &flags, &is_active)) || is_active == 0) continue;
    void* context = nullptr;
    if (!keep(functions_.retain_context(&context, device))) continue;
    if (keep(functions_.push_context(context))) {
      keep(functions_.synchronize());
      keep(functions_.pop_context(&context));
    }
    keep(functions_.release_context(device));
  }
  return first_failure;
}

}  // namespace tbtrace::cupti
