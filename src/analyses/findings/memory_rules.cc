// Memory that grows from step to step: what is allocated, and what the allocator has reserved.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "analyses/findings/rules.h"
#include "base/share.h"

namespace tbtrace::analyses {
namespace {

constexpr double kGrowth = 0.01;
constexpr std::int64_t kGrowthBytes = std::int64_t{1} << 20;
constexpr std::size_t kStepsForGrowth = 3;

}  // namespace

bool has_memory_of_steps(const FindingFacts& facts) {
  return facts.memory.recorded_steps >= kStepsForGrowth;
}

std::optional<Finding> memory_growth(const FindingFacts& facts) {
  const MemoryGrowth& memory = facts.memory;
  const double part = share(memory.per_step_bytes, memory.peak_bytes);
  const bool grows =
      memory.steps >= kStepsForGrowth && memory.per_step_bytes >= kGrowthBytes && part >= kGrowth;
  if (!grows) return std::nullopt;
  return Finding{.id = "memory_growth",
                 .title = "Every step ends with more memory than the one before",
                 .remedy =
                     "look for tensors that outlive their step: a loss summed up with its "
                     "graph (use loss.item() or detach()), growing lists, hooks",
                 .evidence = {{"growth per step", memory.per_step_bytes, "bytes", ""},
                              {"peak", memory.peak_bytes, "bytes", ""},
                              {"steps", static_cast<std::uint64_t>(memory.steps), "", ""}},
                 .share = part,
                 .share_of = ShareOf::peak_memory};
}

bool has_reserved_memory(const FindingFacts& facts) {
  return facts.reserved.recorded_steps >= kStepsForGrowth;
}

/// What was reserved beyond the most that was ever allocated, and beyond the growth of what is
/// allocated, was not needed for it.
std::optional<Finding> reserved_growth(const FindingFacts& facts) {
  const ReservedGrowth& reserved = facts.reserved;
  if (reserved.steps + 1 < kStepsForGrowth) return std::nullopt;
  const auto steps = static_cast<std::int64_t>(reserved.steps);
  const std::int64_t unneeded =
      std::min(reserved.last_bytes - std::max(reserved.first_bytes, reserved.allocated_peak_bytes),
               reserved.growth_bytes() - reserved.allocated_growth_bytes);
  const std::int64_t per_step = unneeded / steps;
  const bool grows = reserved.growing_steps * 2 >= reserved.steps && per_step >= kGrowthBytes &&
                     share(per_step, reserved.last_bytes) >= kGrowth;
  if (!grows) return std::nullopt;
  const std::int64_t unused = reserved.last_bytes - reserved.allocated_peak_bytes;
  Finding finding = {
      .id = "reserved_growth",
      .title =
          "The allocator reserves more memory from step to step than is ever allocated: "
          "fragmentation",
      .remedy =
          "set expandable_segments:True (PYTORCH_CUDA_ALLOC_CONF); allocate fewer different "
          "sizes, for example by padding batches and sequences to a few lengths",
      .evidence = {{"reserved after the first step", reserved.first_bytes, "bytes", ""},
                   {"after the last one", reserved.last_bytes, "bytes", ""},
                   {"growth per step", reserved.growth_bytes() / steps, "bytes", ""},
                   {"most that was allocated", reserved.allocated_peak_bytes, "bytes", ""}},
      .share = share(unused, reserved.last_bytes),
      .share_of = ShareOf::peak_memory};
  if (reserved.device_bytes > reserved.last_bytes) {
    finding.evidence.push_back({"memory of the GPU", reserved.device_bytes, "bytes", ""});
    finding.evidence.push_back(
        {"steps until it is full, at this rate",
         static_cast<std::uint64_t>((reserved.device_bytes - reserved.last_bytes) /
                                    (reserved.growth_bytes() / steps)),
         "", ""});
  }
  return finding;
}

}  // namespace tbtrace::analyses
