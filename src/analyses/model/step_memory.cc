#include "analyses/model/step_memory.h"

#include <algorithm>

#include "analyses/attribution/forward_operators.h"
#include "base/bounded_sum.h"

namespace tbtrace::analyses {
namespace {

/// The total before a time; nullopt before the first record.
std::optional<std::int64_t> allocated_before(const std::vector<MemoryPoint>& curve,
                                             std::int64_t time_ns) {
  const auto after = std::ranges::lower_bound(curve, time_ns, {}, &MemoryPoint::at_ns);
  if (after == curve.begin()) return std::nullopt;
  return std::prev(after)->allocated_bytes;
}

/// Those of a device whose begin is in the recording, by time.
std::vector<MemoryAllocation> allocations_of(const MemoryUse& use, std::size_t device) {
  std::vector<MemoryAllocation> of_device;
  for (const MemoryAllocation& allocation : use.allocations) {
    if (allocation.device == device && allocation.allocated_at_ns) of_device.push_back(allocation);
  }
  std::ranges::stable_sort(of_device, {}, &MemoryAllocation::allocated_at_ns);
  return of_device;
}

/// What was allocated from `start_ns` on and is still held at `end_ns`; nullopt if it is not known
/// of all of that.
std::optional<std::int64_t> held_at(const std::vector<MemoryAllocation>& allocations,
                                    std::int64_t start_ns, std::int64_t end_ns) {
  std::int64_t held = 0;
  auto at = std::ranges::lower_bound(allocations, std::optional(start_ns), {},
                                     &MemoryAllocation::allocated_at_ns);
  for (; at != allocations.end() && *at->allocated_at_ns < end_ns; ++at) {
    if (at->end == AllocationEnd::unknown) return std::nullopt;
    if (!at->freed_at_ns || *at->freed_at_ns >= end_ns) add_bounded(held, at->bytes);
  }
  return held;
}

void keep_most(std::optional<std::int64_t>& most, std::int64_t bytes) {
  most = std::max(most.value_or(bytes), bytes);
}

}  // namespace

StepMemory step_memory(const Trace& trace, const std::vector<StepTime>& steps, const MemoryUse& use,
                       std::size_t number) {
  const DeviceMemory& device = use.devices[number];
  const std::vector<MemoryAllocation> allocations = allocations_of(use, number);
  std::vector<std::int64_t> backward;  // starts, sorted
  for (const EventId event : trace.by_start()) {
    if (trace.kind(event) == EventKind::cpu_op && is_backward(trace, event)) {
      backward.push_back(trace.events().start_ns(event));
    }
  }
  StepMemory memory;
  for (const StepTime& step : steps) {
    if (step.is_whole_trace()) continue;
    const std::optional<std::int64_t> start = allocated_before(device.curve, step.host_start_ns);
    if (!start) continue;
    std::int64_t peak = *start;
    for (auto point =
             std::ranges::lower_bound(device.curve, step.host_start_ns, {}, &MemoryPoint::at_ns);
         point != device.curve.end() && point->at_ns < step.host_end_ns; ++point) {
      peak = std::max(peak, point->allocated_bytes);
    }
    keep_most(memory.over_start_bytes, peak - *start);
    const auto first = std::ranges::lower_bound(backward, step.host_start_ns);
    if (first == backward.end() || *first >= step.host_end_ns) continue;
    if (const auto held = held_at(allocations, step.host_start_ns, *first)) {
      keep_most(memory.activation_bytes, *held);
    } else {
      memory.has_unknown_frees = true;
    }
  }
  // The most of the other steps could be less than that of the step that is not known.
  if (memory.has_unknown_frees) memory.activation_bytes.reset();
  return memory;
}

}  // namespace tbtrace::analyses
