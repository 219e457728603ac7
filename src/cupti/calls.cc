#include "cupti/calls.h"

#include <algorithm>
#include <cstddef>

namespace tbtrace::cupti {

namespace {

using recorder::ApiLibrary;

// Beginnings of names. Queries, which programs make all the time, are left out. CUDA 13's compiler
// launches kernels with `__cudaLaunchKernel`.
constexpr std::array<std::string_view, 23> kRuntimeNames = {"cudaLaunch",
                                                            "__cudaLaunchKernel",
                                                            "cudaGraphLaunch",
                                                            "cudaGraphInstantiate",
                                                            "cudaGraphUpload",
                                                            "cudaGraphExecUpdate",
                                                            "cudaMemcpy",
                                                            "cudaMemset",
                                                            "cudaMemPrefetch",
                                                            "cudaStreamSynchronize",
                                                            "cudaStreamWait",
                                                            "cudaStreamCreate",
                                                            "cudaEventSynchronize",
                                                            "cudaEventRecord",
                                                            "cudaDeviceSynchronize",
                                                            "cudaThreadSynchronize",
                                                            "cudaMalloc",
                                                            "cudaFree",
                                                            "cudaHostAlloc",
                                                            "cudaHostRegister",
                                                            "cudaHostUnregister",
                                                            "cudaLibraryLoad",
                                                            "cudaLibraryUnload"};
// Made by compilers of kernels, by libraries, for LibTorch's expandable segments, and when a
// module's code is loaded at its first launch.
constexpr std::array<std::string_view, 26> kDriverNames = {"cuLaunch",
                                                           "cuGraphLaunch",
                                                           "cuGraphInstantiate",
                                                           "cuGraphUpload",
                                                           "cuGraphExecUpdate",
                                                           "cuMemcpy",
                                                           "cuMemset",
                                                           "cuMemPrefetch",
                                                           "cuStreamSynchronize",
                                                           "cuStreamWait",
                                                           "cuStreamCreate",
                                                           "cuEventSynchronize",
                                                           "cuCtxSynchronize",
                                                           "cuMemCreate",
                                                           "cuMemMap",
                                                           "cuMemUnmap",
                                                           "cuMemRelease",
                                                           "cuMemExportToShareableHandle",
                                                           "cuMemImportFromShareableHandle",
                                                           "cuModuleLoad",
                                                           "cuModuleUnload",
                                                           "cuLibraryLoad",
                                                           "cuLibraryUnload",
                                                           "cuLinkAdd",
                                                           "cuLinkComplete",
                                                           "cuFuncLoad"};

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

bool is_chosen(ApiLibrary library, std::string_view name) {
  const auto begins = [&](std::string_view beginning) { return name.starts_with(beginning); };
  return library == ApiLibrary::runtime
             ? std::any_of(kRuntimeNames.begin(), kRuntimeNames.end(), begins)
             : std::any_of(kDriverNames.begin(), kDriverNames.end(), begins);
}

Calls::Calls(const CuptiLibrary& cupti) {
  for (const ApiLibrary library : {ApiLibrary::runtime, ApiLibrary::driver}) {
    const int domain = library == ApiLibrary::runtime ? kRuntimeDomain : kDriverDomain;
    std::vector<Function>& functions = functions_[static_cast<std::size_t>(library)];
    for (std::uint32_t number = 1; number < kMostNumbers; ++number) {
      const char* name = nullptr;
      if (cupti.callback_name(domain, number, &name) != results::kSuccess || name == nullptr)
        continue;
      functions.resize(number + 1);
      functions.back() = {.name = call_name(name), .is_chosen = is_chosen(library, name)};
    }
  }
}

}  // namespace tbtrace::cupti
