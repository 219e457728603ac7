#include "cupti/calls.h"

#include <algorithm>
#include <cstddef>

namespace tbtrace::cupti {

namespace {

using recorder::CallLibrary;

// Beginnings of names. Queries, which programs make all the time, are none of them.
constexpr std::array<std::string_view, 16> kRuntimeNames = {"cudaLaunch",
                                                            "cudaGraphLaunch",
                                                            "cudaMemcpy",
                                                            "cudaMemset",
                                                            "cudaMemPrefetch",
                                                            "cudaStreamSynchronize",
                                                            "cudaStreamWait",
                                                            "cudaEventSynchronize",
                                                            "cudaEventRecord",
                                                            "cudaDeviceSynchronize",
                                                            "cudaThreadSynchronize",
                                                            "cudaMalloc",
                                                            "cudaFree",
                                                            "cudaHostAlloc",
                                                            "cudaHostRegister",
                                                            "cudaHostUnregister"};
// Made by compilers of kernels, by libraries, and for LibTorch's expandable segments.
constexpr std::array<std::string_view, 15> kDriverNames = {"cuLaunch",
                                                           "cuGraphLaunch",
                                                           "cuMemcpy",
                                                           "cuMemset",
                                                           "cuMemPrefetch",
                                                           "cuStreamSynchronize",
                                                           "cuStreamWait",
                                                           "cuEventSynchronize",
                                                           "cuCtxSynchronize",
                                                           "cuMemCreate",
                                                           "cuMemMap",
                                                           "cuMemUnmap",
                                                           "cuMemRelease",
                                                           "cuMemExportToShareableHandle",
                                                           "cuMemImportFromShareableHandle"};

constexpr std::uint32_t kMostNumbers = 4096;

}  // namespace

std::string call_name(std::string_view name) {
  const std::size_t version = name.rfind("_v");
  const auto is_digit = [](char letter) { return letter >= '0' && letter <= '9'; };
  if (version != std::string_view::npos && name.size() - version - 2 >= 4 &&
      std::all_of(name.begin() + static_cast<std::ptrdiff_t>(version) + 2, name.end(), is_digit)) {
    name = name.substr(0, version);  // `cuMemcpy_v2` is another call than `cuMemcpy`
  }
  return std::string(name);
}

bool is_chosen(CallLibrary library, std::string_view name) {
  const auto begins = [&](std::string_view beginning) { return name.starts_with(beginning); };
  return library == CallLibrary::runtime
             ? std::any_of(kRuntimeNames.begin(), kRuntimeNames.end(), begins)
             : std::any_of(kDriverNames.begin(), kDriverNames.end(), begins);
}

Calls::Calls(const CuptiLibrary& cupti) {
  for (const CallLibrary library : {CallLibrary::runtime, CallLibrary::driver}) {
    const int domain = library == CallLibrary::runtime ? kRuntimeDomain : kDriverDomain;
    std::vector<std::string>& names = names_[static_cast<std::size_t>(library)];
    for (std::uint32_t number = 1; number < kMostNumbers; ++number) {
      const char* name = nullptr;
      if (cupti.callback_name(domain, number, &name) != answers::kDone || name == nullptr) continue;
      if (!is_chosen(library, name)) continue;
      names.resize(number + 1);
      names.back() = call_name(name);
    }
  }
}

}  // namespace tbtrace::cupti
