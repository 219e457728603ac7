#include "analyses/model/step_memory.h"

#include <algorithm>

#include "analyses/attribution/forward_operators.h"

namespace tbtrace::analyses {
namespace {

/// The total before a time; nullopt before the first record.
std::optional<std::int64_t> allocated_before(const std::vector<MemoryPoint>& curve,
                                             std::int64_t time_ns) {
  const auto after = std::ranges::lower_bound(curve, time_ns, {}, &MemoryPoint::at_ns);
  if (after == curve.begin()) return std::nullopt;
  return std::prev(after)->allocated_bytes;
}

void keep_most(std::optional<std::int64_t>& most, std::int64_t bytes) {
  most = std::max(most.value_or(bytes), bytes);
}

}  // namespace

StepMemory step_memory(const Trace& trace, const std::vector<StepTime>& steps,
                       const DeviceMemory& device) {
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
    keep_most(memory.activation_bytes,
              allocated_before(device.curve, *first).value_or(*start) - *start);
  }
  return memory;
}

}  // namespace tbtrace::analyses
