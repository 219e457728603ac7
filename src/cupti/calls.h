// Which calls of CUDA are recorded, and what they are called: those that give devices work, wait
// for them, or get memory. Their numbers differ between releases; their names tell.
// Owns its texts. Immutable, so any thread may read it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cupti/cupti_library.h"
#include "recorder/device_activity.h"

namespace tbtrace::cupti {

/// Without CUPTI's suffixes: `cudaLaunchKernel` of `cudaLaunchKernel_v7000`. A name ending in
/// `_ptsz` or `_ptds`, of a thread's own default stream, keeps that.
std::string call_name(std::string_view name);

/// Whether a call of this name is recorded.
bool is_chosen(recorder::CallLibrary library, std::string_view name);

class Calls {
 public:
  explicit Calls(const CuptiLibrary& cupti);

  /// The names of the chosen calls by number; empty: not chosen.
  const std::vector<std::string>& names(recorder::CallLibrary library) const {
    return names_[static_cast<std::size_t>(library)];
  }

 private:
  std::array<std::vector<std::string>, 2> names_;
};

}  // namespace tbtrace::cupti
