#include "analyses/steps/step_threads.h"

#include "analyses/attribution/forward_operators.h"
#include "analyses/attribution/operator_kind.h"

namespace tbtrace::analyses {

std::vector<bool> step_threads(const Trace& trace, std::span<const EventId> step_events) {
  std::vector<bool> is_step_thread(trace.tracks().size(), false);
  bool any = false;
  for (const EventId step : step_events) {
    if (step == EventId::none) continue;
    is_step_thread[index(trace.events().track(step))] = true;
    any = true;
  }
  if (any) return is_step_thread;
  for (const EventId event : trace.by_start()) {
    if (trace.kind(event) != EventKind::cpu_op || is_data_loading(trace.name(event)) ||
        is_backward(trace, event) || accumulates_gradient(trace, event)) {
      continue;
    }
    is_step_thread[index(trace.events().track(event))] = true;
    return is_step_thread;
  }
  is_step_thread.assign(is_step_thread.size(), true);
  return is_step_thread;
}

}  // namespace tbtrace::analyses
