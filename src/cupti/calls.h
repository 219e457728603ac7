// CUDA's functions by the numbers that CUPTI has for them, and which of their calls are recorded:
// those that launch, copy, synchronize, get memory, load code, and make graphs and streams.
// Numbers differ between releases, so functions are chosen by name.
// Owns its texts. Immutable, so any thread may read it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cupti/cupti_library.h"
#include "recorder/log/device_trace.h"

namespace tbtrace::cupti {

/// Without CUPTI's suffixes: `cudaLaunchKernel` of `cudaLaunchKernel_v7000`. A name ending in
/// `_ptsz` or `_ptds`, of a thread's own default stream, keeps that.
std::string call_name(std::string_view name);

/// Whether calls of the function of this name are recorded if not all are.
bool is_chosen(recorder::ApiLibrary library, std::string_view name);

class Calls {
 public:
  struct Function {
    std::string name;  ///< empty: CUPTI has no function of this number
    bool is_chosen = false;
  };

  explicit Calls(const CuptiLibrary& cupti);

  /// By number.
  const std::vector<Function>& functions(recorder::ApiLibrary library) const {
    return functions_[static_cast<std::size_t>(library)];
  }

 private:
  std::array<std::vector<Function>, 2> functions_;
};

}  // namespace tbtrace::cupti
