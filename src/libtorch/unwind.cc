#include "libtorch/unwind.h"

#include "libtorch/torch_version.h"

#if TBTRACE_TORCH_AT_LEAST(2, 1)

#include <torch/csrc/profiler/unwind/unwind.h>

namespace tbtrace::libtorch {

void load_unwinder() { torch::unwind::unwind(); }

std::vector<void*> unwind() { return torch::unwind::unwind(); }

}  // namespace tbtrace::libtorch

#else

#include <array>

#include <dlfcn.h>

namespace tbtrace::libtorch {

namespace {

using Backtrace = int (*)(void**, int);

/// Of libunwind, which LibTorch loads through glog. Its other functions must not become the
/// program's, hence RTLD_LOCAL: it has some of the C++ runtime's names.
Backtrace find_backtrace() {
  for (const char* const name : {"libunwind.so.8", "libunwind.so.1"}) {
    void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    if (void* const found = ::dlsym(library, "unw_backtrace")) {
      return reinterpret_cast<Backtrace>(found);
    }
  }
  return nullptr;
}

Backtrace backtrace() {
  static const Backtrace one = find_backtrace();
  return one;
}

}  // namespace

std::vector<void*> unwind() {
  if (backtrace() == nullptr) return {};
  std::array<void*, 256> frames;
  const int count = backtrace()(frames.data(), static_cast<int>(frames.size()));
  if (count <= 0) return {};
  return std::vector<void*>(frames.begin(), frames.begin() + count);
}

void load_unwinder() { unwind(); }

}  // namespace tbtrace::libtorch

#endif
