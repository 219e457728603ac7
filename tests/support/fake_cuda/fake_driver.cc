// A CUDA driver that sees as many H200s as a test says: devices, attributes and primary contexts.
// Keeps its state for the life of the process. Any thread.
// Before cuInit() all but the version answers 3, to a bad device 101, without a context 201.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "support/fake_cuda/call_log.h"
#include "support/fake_cuda/exported.h"
#include "support/fake_cuda/fake_cuda.h"

namespace fake = tbtrace::fake_cuda;

namespace {

// CUresult.
constexpr int kDone = 0;
constexpr int kInvalidValue = 1;
constexpr int kNotInitialized = 3;
constexpr int kInvalidDevice = 101;
constexpr int kInvalidContext = 201;

struct Error {
  int code;
  const char* name;
  const char* text;
};

constexpr Error kErrors[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", "API call is not supported by the driver"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported driver and library"},
    {906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT", "the call depends on a capturing stream"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

/// CUdevice_attribute of an H200.
const std::map<int, int> kH200 = {
    {1, 1024},                     // threads of a block
    {2, 1024},                     // of its x
    {3, 1024},                     // y
    {4, 64},                       // z
    {8, 49152},                    // shared memory of a block
    {10, 32},                      // threads of a warp
    {12, 65536},                   // registers of a block
    {13, 1980000},                 // kHz
    {16, 132},                     // multiprocessors
    {31, 1},                       // kernels at once
    {36, 3201000},                 // kHz of the memory
    {37, 6144},                    // bits of its bus
    {38, 62914560},                // level 2 cache
    {39, 2048},                    // threads of a multiprocessor
    {40, 3},                       // copy engines
    {41, 1},                       // one address space
    {75, 9},                       // compute capability
    {76, 0},        {81, 233472},  // shared memory of a multiprocessor
    {82, 65536},                   // its registers
    {97, 232448},                  // shared memory of a block that asks for it
    {106, 32},                     // blocks of a multiprocessor
    {111, 1024},                   // shared memory of a block that is the driver's
};

/// Those from `get_error_name` on only look something up.
enum class Function : std::size_t {
  init,
  driver_get_version,
  device_get_count,
  device_get,
  device_get_name,
  device_total_mem,
  device_get_attribute,
  primary_ctx_get_state,
  primary_ctx_retain,
  primary_ctx_release,
  ctx_push,
  ctx_pop,
  ctx_synchronize,
  get_error_name,
  get_error_string,
};

constexpr std::array<std::string_view, 15> kFunctionNames = {
    "cuInit",
    "cuDriverGetVersion",
    "cuDeviceGetCount",
    "cuDeviceGet",
    "cuDeviceGetName",
    "cuDeviceTotalMem_v2",
    "cuDeviceGetAttribute",
    "cuDevicePrimaryCtxGetState",
    "cuDevicePrimaryCtxRetain",
    "cuDevicePrimaryCtxRelease_v2",
    "cuCtxPushCurrent_v2",
    "cuCtxPopCurrent_v2",
    "cuCtxSynchronize",
    "cuGetErrorName",
    "cuGetErrorString",
};

struct State {
  fake::CallLog calls{kFunctionNames, static_cast<std::size_t>(Function::get_error_name)};
  std::atomic<bool> initialized = false;
  std::atomic<int (*)(int)> synchronize = nullptr;

  std::mutex mutex;  // what follows
  fake::DriverSetup setup;
  std::map<int, int> attributes = kH200;
  std::array<int, fake::kMostDevices> retained = {};
};

State& state() {
  static State* const the_state = new State;
  return *the_state;
}

std::vector<void*>& pushed() {
  thread_local std::vector<void*> contexts;
  return contexts;
}

int enter(Function function) {
  if (const int code = state().calls.enter(static_cast<std::size_t>(function))) return code;
  const bool always = function == Function::init || function == Function::driver_get_version ||
                      function >= Function::get_error_name;
  return always || state().initialized ? kDone : kNotInitialized;
}

/// With the state locked.
bool is_device(int device) { return device >= 0 && device < state().setup.devices; }

void* context_of(int device) {
  return reinterpret_cast<void*>(fake::kContextHandles + static_cast<std::uintptr_t>(device));
}

const Error* error_of(int code) {
  const auto* const found = std::find_if(std::begin(kErrors), std::end(kErrors),
                                         [code](const Error& error) { return error.code == code; });
  return found == std::end(kErrors) ? nullptr : found;
}

}  // namespace

extern "C" {

FAKE_EXPORTED int cuInit(unsigned) {
  if (const int code = enter(Function::init)) return code;
  const std::lock_guard lock(state().mutex);
  if (state().setup.init_result != kDone) return state().setup.init_result;
  state().initialized = true;
  return kDone;
}

FAKE_EXPORTED int cuDriverGetVersion(int* version) {
  if (const int code = enter(Function::driver_get_version)) return code;
  if (version == nullptr) return kInvalidValue;
  const std::lock_guard lock(state().mutex);
  *version = state().setup.version;
  return kDone;
}

FAKE_EXPORTED int cuDeviceGetCount(int* count) {
  if (const int code = enter(Function::device_get_count)) return code;
  if (count == nullptr) return kInvalidValue;
  const std::lock_guard lock(state().mutex);
  *count = state().setup.devices;
  return kDone;
}

FAKE_EXPORTED int cuDeviceGet(int* device, int ordinal) {
  if (const int code = enter(Function::device_get)) return code;
  const std::lock_guard lock(state().mutex);
  if (!is_device(ordinal)) return kInvalidDevice;
  if (device == nullptr) return kInvalidValue;
  *device = ordinal;
  return kDone;
}

FAKE_EXPORTED int cuDeviceGetName(char* name, int size, int device) {
  if (const int code = enter(Function::device_get_name)) return code;
  const std::lock_guard lock(state().mutex);
  if (!is_device(device)) return kInvalidDevice;
  if (name == nullptr || size <= 0) return kInvalidValue;
  const std::string& text = state().setup.name;
  const std::size_t length = std::min(text.size(), static_cast<std::size_t>(size) - 1);
  std::memcpy(name, text.data(), length);
  name[length] = '\0';
  return kDone;
}

FAKE_EXPORTED int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  if (const int code = enter(Function::device_total_mem)) return code;
  const std::lock_guard lock(state().mutex);
  if (!is_device(device)) return kInvalidDevice;
  if (bytes == nullptr) return kInvalidValue;
  *bytes = state().setup.total_memory;
  return kDone;
}

FAKE_EXPORTED int cuDeviceGetAttribute(int* value, int attribute, int device) {
  if (const int code = enter(Function::device_get_attribute)) return code;
  const std::lock_guard lock(state().mutex);
  if (!is_device(device)) return kInvalidDevice;
  const auto found = state().attributes.find(attribute);
  if (value == nullptr || found == state().attributes.end()) return kInvalidValue;
  *value = found->second;
  return kDone;
}

FAKE_EXPORTED int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  if (const int code = enter(Function::primary_ctx_get_state)) return code;
  const std::lock_guard lock(state().mutex);
  if (!is_device(device)) return kInvalidDevice;
  if (flags == nullptr || active == nullptr) return kInvalidValue;
  const auto number = static_cast<std::size_t>(device);
  const bool used = ((state().setup.active_contexts >> number) & 1U) != 0;
  *flags = 0;
  *active = used || state().retained[number] != 0 ? 1 : 0;
  return kDone;
}

FAKE_EXPORTED int cuDevicePrimaryCtxRetain(void** context, int device) {
  if (const int code = enter(Function::primary_ctx_retain)) return code;
  const std::lock_guard lock(state().mutex);
  if (!is_device(device)) return kInvalidDevice;
  if (context == nullptr) return kInvalidValue;
  ++state().retained[static_cast<std::size_t>(device)];
  *context = context_of(device);
  return kDone;
}

FAKE_EXPORTED int cuDevicePrimaryCtxRelease_v2(int device) {
  if (const int code = enter(Function::primary_ctx_release)) return code;
  const std::lock_guard lock(state().mutex);
  if (!is_device(device)) return kInvalidDevice;
  int& retained = state().retained[static_cast<std::size_t>(device)];
  if (retained == 0) return kInvalidContext;
  --retained;
  return kDone;
}

FAKE_EXPORTED int cuCtxPushCurrent_v2(void* context) {
  if (const int code = enter(Function::ctx_push)) return code;
  const auto handle = reinterpret_cast<std::uintptr_t>(context);
  if (handle < fake::kContextHandles || handle >= fake::kContextHandles + fake::kMostDevices) {
    return kInvalidContext;
  }
  pushed().push_back(context);
  return kDone;
}

FAKE_EXPORTED int cuCtxPopCurrent_v2(void** context) {
  if (const int code = enter(Function::ctx_pop)) return code;
  if (pushed().empty()) return kInvalidContext;
  if (context != nullptr) *context = pushed().back();
  pushed().pop_back();
  return kDone;
}

FAKE_EXPORTED int cuCtxSynchronize() {
  if (const int code = enter(Function::ctx_synchronize)) return code;
  if (pushed().empty()) return kInvalidContext;
  const auto handle = reinterpret_cast<std::uintptr_t>(pushed().back());
  int (*const synchronize)(int) = state().synchronize;
  if (synchronize == nullptr) return kDone;
  return synchronize(static_cast<int>(handle - fake::kContextHandles));
}

FAKE_EXPORTED int cuGetErrorName(int error, const char** text) {
  if (const int code = enter(Function::get_error_name)) return code;
  if (text == nullptr) return kInvalidValue;
  const Error* const found = error_of(error);
  *text = found == nullptr ? nullptr : found->name;
  return found == nullptr ? kInvalidValue : kDone;
}

FAKE_EXPORTED int cuGetErrorString(int error, const char** text) {
  if (const int code = enter(Function::get_error_string)) return code;
  if (text == nullptr) return kInvalidValue;
  const Error* const found = error_of(error);
  *text = found == nullptr ? nullptr : found->text;
  return found == nullptr ? kInvalidValue : kDone;
}

}  // extern "C"

namespace tbtrace::fake_cuda {

extern "C" {

FAKE_EXPORTED void fake_driver_reset() {
  state().calls.reset();
  state().initialized = false;
  state().synchronize = nullptr;
  pushed().clear();
  const std::lock_guard lock(state().mutex);
  state().setup = {};
  state().attributes = kH200;
  state().retained = {};
}

FAKE_EXPORTED void fake_driver_set_up(const DriverSetup& setup) {
  const std::lock_guard lock(state().mutex);
  state().setup = setup;
}

FAKE_EXPORTED void fake_driver_set_attribute(int attribute, int value) {
  const std::lock_guard lock(state().mutex);
  state().attributes[attribute] = value;
}

FAKE_EXPORTED void fake_driver_fail(const char* function, std::uint64_t nth, int code) {
  state().calls.fail(function, nth, code);
}

FAKE_EXPORTED void fake_driver_fail_call(std::uint64_t nth, int code) {
  state().calls.fail_call(nth, code);
}

FAKE_EXPORTED std::uint64_t fake_driver_calls(const char* function) {
  return state().calls.calls(function);
}

FAKE_EXPORTED int fake_driver_retained() {
  const std::lock_guard lock(state().mutex);
  int retained = 0;
  for (const int of_device : state().retained) retained += of_device;
  return retained;
}

FAKE_EXPORTED std::size_t fake_driver_pushed() { return pushed().size(); }

FAKE_EXPORTED void fake_driver_connect(int (*synchronize)(int device)) {
  state().synchronize = synchronize;
}

}  // extern "C"

}  // namespace tbtrace::fake_cuda
