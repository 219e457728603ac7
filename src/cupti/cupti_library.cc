#include "cupti/cupti_library.h"

#include <cstdlib>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <link.h>

#include "cupti/loaded_library.h"

namespace tbtrace::cupti {

namespace {

constexpr const char* kVariable = "TBTRACE_CUPTI";
constexpr const char* kName = "libcupti.so";

/// Where others than the system's linker would look, most likely first.
std::vector<std::string> places() {
  const std::vector<std::string> numbers = {".13", ".12", ".11.8"};
  std::vector<std::string> places;
  places.reserve(64);
  for (const std::string& number : numbers) places.push_back(kName + number);
  std::vector<std::string> folders;
  for (const char* neighbour : {"libtorch_cuda.so", "libcudart.so"}) {
    const std::string folder = mapped_folder(neighbour);
    if (folder.empty()) continue;
    // LibTorch's archive, and Python's packages: torch/lib beside nvidia/*/lib.
    for (const char* way : {"/", "/../../nvidia/cu13/lib/", "/../../nvidia/cuda_cupti/lib/",
                            "/../../cuda_cupti/lib/", "/../extras/CUPTI/lib64/"}) {
      folders.push_back(folder + way);
    }
  }
  folders.insert(folders.end(), {"/usr/local/cuda/lib64/", "/usr/local/cuda/extras/CUPTI/lib64/"});
  for (const std::string& folder : folders) {
    for (const std::string& number : numbers) places.push_back(folder + kName + number);
  }
  places.emplace_back(kName);
  return places;
}

Result<CuptiLibrary> read_functions(void* handle) {
  CuptiLibrary cupti;
  std::string missing;
  const auto optional = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(::dlsym(handle, name));
    return function != nullptr;
  };
  const auto required = [&](auto& function, const char* name) {
    if (!optional(function, name) && missing.empty()) missing = name;
  };
  required(cupti.get_version, "cuptiGetVersion");
  required(cupti.result_string, "cuptiGetResultString");
  required(cupti.callback_name, "cuptiGetCallbackName");
  required(cupti.set_thread_id_type, "cuptiSetThreadIdType");
  required(cupti.set_attribute, "cuptiActivitySetAttribute");
  required(cupti.register_timestamp, "cuptiActivityRegisterTimestampCallback");
  required(cupti.register_callbacks, "cuptiActivityRegisterCallbacks");
  required(cupti.enable, "cuptiActivityEnable");
  required(cupti.disable, "cuptiActivityDisable");
  required(cupti.flush_all, "cuptiActivityFlushAll");
  required(cupti.next_record, "cuptiActivityGetNextRecord");
  required(cupti.dropped_records, "cuptiActivityGetNumDroppedRecords");
  optional(cupti.enable_runtime_call, "cuptiActivityEnableRuntimeApi");
  optional(cupti.enable_driver_call, "cuptiActivityEnableDriverApi");
  optional(cupti.get_attribute, "cuptiActivityGetAttribute");
  optional(cupti.get_timestamp, "cuptiGetTimestamp");
  optional(cupti.push_external_id, "cuptiActivityPushExternalCorrelationId");
  optional(cupti.pop_external_id, "cuptiActivityPopExternalCorrelationId");
  optional(cupti.subscribe, "cuptiSubscribe");
  optional(cupti.unsubscribe, "cuptiUnsubscribe");
  optional(cupti.enable_domain, "cuptiEnableDomain");
  optional(cupti.finalize, "cuptiFinalize");
  cupti.path = path_of(reinterpret_cast<const void*>(cupti.get_version));
  if (!missing.empty()) {
    return Status(StatusCode::check_failed,
                  "the CUPTI at " + (cupti.path.empty() ? kName : cupti.path) +
                      " has no function " + missing +
                      ", so it is older than CUDA 11.8; use a LibTorch built for a later CUDA");
  }
  if (cupti.get_version(&cupti.version) != results::kSuccess) cupti.version = 0;
  return cupti;
}

}  // namespace

int cuda_major(std::uint32_t cupti_version) {
  // Until CUDA 12 CUPTI counted: 18 was that of CUDA 11.8, 19 to 28 those of 12. Since 13 it is
  // CUDA's version times 10,000, and more digits.
  if (cupti_version >= 130000) return static_cast<int>(cupti_version / 10000);
  return cupti_version > 18 ? 12 : 11;
}

std::string cupti_version_text(std::uint32_t cupti_version) {
  std::string cuda = std::to_string(cuda_major(cupti_version));
  if (cupti_version >= 130000) cuda += "." + std::to_string(cupti_version / 100 % 100);
  return "CUDA " + cuda + " (" + std::to_string(cupti_version) + ")";
}

std::string result_text(const CuptiLibrary& cupti, ResultCode result) {
  const char* name = nullptr;
  if (cupti.result_string(result, &name) != results::kSuccess || name == nullptr) name = "error";
  return std::string(name) + " (" + std::to_string(result) + ")";
}

Result<CuptiLibrary> open_cupti(const std::optional<std::string>& path) {
  if (path) {
    if (void* const handle = ::dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL)) {
      return read_functions(handle);
    }
    const char* const why = ::dlerror();
    return Status(StatusCode::unreadable_input,
                  "CUPTI cannot be loaded from " + *path + " (" +
                      (why == nullptr ? "for a reason that the system does not tell" : why) + ")");
  }
  if (const std::string mapped = mapped_path(kName); !mapped.empty()) return open_cupti(mapped);
  if (const char* const named = std::getenv(kVariable); named != nullptr && *named != '\0') {
    return open_cupti(std::string(named));
  }
  for (const std::string& place : places()) {
    if (void* const handle = ::dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      return read_functions(handle);
    }
  }
  return Status(
      StatusCode::unreadable_input,
      std::string("CUPTI (libcupti.so) is not found; it comes with CUDA's toolkit and with "
                  "LibTorch for CUDA, and the environment variable ") +
          kVariable + " may name it");
}

}  // namespace tbtrace::cupti
