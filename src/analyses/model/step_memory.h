// What steps allocated: over what was there when they began, and by the time of the backward pass.
// Pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <tbtrace/memory.h>
#include <tbtrace/steps.h>
#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// The most of any step.
struct StepMemory {
  /// The highest total, less that at the step's start; nullopt without steps.
  std::optional<std::int64_t> over_start_bytes;
  /// What the step had allocated and still held when the first node of its backward pass began:
  /// what the forward pass keeps for it, its inputs and results. nullopt without a backward pass,
  /// and if the records do not say what was freed until then (they have no addresses).
  std::optional<std::int64_t> activation_bytes;
  bool has_unknown_frees = false;  ///< the latter is so
};

/// `steps`: on the host, by time. The starts of backward passes are found by operators that name
/// the thread of their forward pass or are called like one.
/// `number`: of a device of `use`.
StepMemory step_memory(const Trace& trace, const std::vector<StepTime>& steps, const MemoryUse& use,
                       std::size_t number);

}  // namespace tbtrace::analyses
