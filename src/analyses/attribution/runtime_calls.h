// What a call of a device runtime or driver does, by its name.
// To add a runtime, add the parts of its names to the lists in runtime_calls.cc.
// Pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace tbtrace::analyses {

enum class RuntimeCall : std::uint8_t {
  wait,        ///< returns when a device, a stream or an event has caught up
  copy,        ///< copies memory; whether it waits for the copy, its name alone does not say
  allocation,  ///< allocates or frees memory of a device, or page-locked memory
  setup,       ///< creates a stream or a context, or loads code: programs do it once
  other,       ///< launches, queries, records events, ...
};

/// Of CUDA, HIP, Level Zero and Unified Runtime (Intel), CANN (Ascend), MUSA and others: names that
/// are not known are judged by the words that these share.
RuntimeCall runtime_call(std::string_view name);

/// Python's garbage collector, as torch (`Python GC`) and as Python's frames have it.
bool is_garbage_collection(std::string_view name);

}  // namespace tbtrace::analyses
