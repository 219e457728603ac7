// What a call of a device runtime or driver does, by its name.
// To add a runtime, add the parts of its names to the lists in runtime_calls.cc.
// Pure functions, and a cache of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <tbtrace/trace.h>

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

/// The same of the events of a trace, which must outlive this; each name is looked at once. Not
/// synchronised.
class RuntimeCalls {
 public:
  explicit RuntimeCalls(const Trace& trace) : trace_(trace) {}

  RuntimeCall of(EventId call) {
    const std::size_t name = index(trace_.events().name(call));
    if (name >= calls_.size()) calls_.resize(name + name / 2 + 1, kNotYet);
    if (calls_[name] == kNotYet) calls_[name] = runtime_call(trace_.name(call));
    return calls_[name];
  }

 private:
  static constexpr RuntimeCall kNotYet{0xff};

  const Trace& trace_;
  std::vector<RuntimeCall> calls_;  // by StringId
};

/// The launches that return when their kernels have ended, as with CUDA_LAUNCH_BLOCKING=1; sorted.
/// None unless nine of ten do.
std::vector<EventId> blocking_launches(const Trace& trace);

/// Python's garbage collector, as torch (`Python GC`) and as Python's frames have it.
bool is_garbage_collection(std::string_view name);

}  // namespace tbtrace::analyses
