#include "analyses/modules/place_costs.h"

#include <algorithm>
#include <cstdint>

#include <tbtrace/analysis_context.h>

#include "analyses/flops/counted_operators.h"
#include "analyses/steps/selection.h"
#include "base/bounded_sum.h"

namespace tbtrace::analyses {
namespace {

std::uint64_t bounded_count(WideInteger number) {
  return static_cast<std::uint64_t>(std::min<WideInteger>(number, UINT64_MAX));
}

}  // namespace

ModuleCost cost_of(const PlaceWork& own, const PlaceWork& total) {
  ModuleCost cost;
  cost.cpu_time_total_ns = bounded(total.cpu_ns);
  cost.self_cpu_time_ns = bounded(own.cpu_ns);
  cost.device_time_total_ns = bounded(total.device_ns);
  cost.self_device_time_ns = bounded(own.device_ns);
  cost.backward_cpu_time_ns = bounded(total.backward_cpu_ns);
  cost.backward_device_time_ns = bounded(total.backward_device_ns);
  cost.cpu_memory_bytes = bounded(total.cpu_memory_bytes);
  cost.device_memory_bytes = bounded(total.device_memory_bytes);
  cost.self_cpu_memory_bytes = bounded(own.cpu_memory_bytes);
  cost.self_device_memory_bytes = bounded(own.device_memory_bytes);
  cost.macs = bounded_count(total.macs);
  cost.flops = bounded_count(total.flops);
  cost.backward_macs = bounded_count(total.backward_macs);
  cost.backward_flops = bounded_count(total.backward_flops);
  return cost;
}

Status with_steps(const Trace& trace, const std::optional<StepRange>& steps,
                  const std::function<void(const CountsRange& counts)>& analyse) {
  if (!steps) {
    analyse({});
    return {};
  }
  const auto window = window_of_steps(trace, steps);
  if (!window.ok()) return window.status();
  const AnalysisContext context(trace);
  analyse([&](EventId range) {
    const Step* const step = context.step_of(range);
    return step != nullptr && steps->contains(step->number);
  });
  return {};
}

void add_operations(std::vector<PlaceWork>& work, const Trace& trace, const WorkPlaces& where,
                    const CountsRange& counts) {
  for (const CountedOperator& counted : counted_operators(trace)) {
    if (counts && !counts(counted.op)) continue;
    PlaceWork& here = work[where.place[index(counted.op)]];
    here.macs += counted.macs;
    here.flops += counted.flops;
    if (where.is_backward[index(counted.op)] == 0) continue;
    here.backward_macs += counted.macs;
    here.backward_flops += counted.flops;
  }
}

}  // namespace tbtrace::analyses
