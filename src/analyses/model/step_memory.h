// What steps allocated: over what was there when they began, and by the time of the backward pass.
// Pure function.
#pragma once

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
  /// The total when the first node of the backward pass began, less that at the step's start: what
  /// the forward pass keeps for it, and its results. nullopt without a backward pass.
  std::optional<std::int64_t> activation_bytes;
};

/// `steps`: on the host, by time. The starts of backward passes are found by operators that name
/// the thread of their forward pass or are called like one.
StepMemory step_memory(const Trace& trace, const std::vector<StepTime>& steps,
                       const DeviceMemory& device);

}  // namespace tbtrace::analyses
