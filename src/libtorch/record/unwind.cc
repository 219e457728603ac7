#include "libtorch/record/unwind.h"

#include <algorithm>
#include <array>
#include <exception>
#include <mutex>

#include <dlfcn.h>

#include "libtorch/record/torch_version.h"
#include "recorder/process/process.h"

#if TBTRACE_TORCH_AT_LEAST(2, 1)
#include <torch/csrc/profiler/unwind/unwind.h>
#endif

namespace tbtrace::libtorch {

namespace {

constexpr std::size_t kDeepest = 128;

#if TBTRACE_TORCH_AT_LEAST(2, 1)

/// LibTorch hands out what its table of places holds after it has let go of the table's lock, so
/// that a second thread may move it meanwhile.
std::mutex& unwinders_mutex() { return recorder::process_mutex<recorder::PartOrder::unwinders>(); }

std::vector<void*> walk() {
  const std::lock_guard lock(unwinders_mutex());
  return torch::unwind::unwind();
}

#else

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

std::vector<void*> walk() {
  static const Backtrace backtrace = find_backtrace();
  if (backtrace == nullptr) return {};
  std::array<void*, kDeepest> frames;
  const int count = std::max(backtrace(frames.data(), static_cast<int>(frames.size())), 0);
  return std::vector<void*>(frames.begin(), frames.begin() + count);
}

#endif

}  // namespace

bool can_unwind() {
  // LibTorch throws where it knows no way.
  static const bool can = [] {
    try {
      return !walk().empty();
    } catch (const std::exception&) {
      return false;
    }
  }();
  return can;
}

std::vector<void*> unwind() {
  if (!can_unwind()) return {};
  std::vector<void*> frames = walk();
  if (frames.size() > kDeepest) frames.resize(kDeepest);
  return frames;
}

}  // namespace tbtrace::libtorch
