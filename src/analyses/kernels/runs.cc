#include "analyses/kernels/runs.h"

#include "base/bounded_sum.h"
#include "trace/links.h"

namespace tbtrace::analyses {

std::vector<KernelRun> kernel_runs(const Trace& trace, const std::optional<TimeRange>& window) {
  std::vector<KernelRun> runs;
  for (const DeviceLink& link : links_of(trace).device_work()) {
    if (trace.kind(link.activity) != EventKind::kernel) continue;
    if (!starts_in(trace, link.activity, window)) continue;
    runs.push_back(
        {link.activity, link.launch, link.op, trace.events().duration_ns(link.activity)});
  }
  return runs;
}

bool starts_in(const Trace& trace, EventId event, const std::optional<TimeRange>& window) {
  const std::int64_t start = trace.events().start_ns(event);
  return !window || (window->start <= start && start < window->end);
}

void add_copies(KernelSummary& summary, const Trace& trace,
                const std::optional<TimeRange>& window) {
  for (const EventId event : trace.by_start()) {
    const EventKind kind = trace.kind(event);
    const bool is_copy = kind == EventKind::gpu_memcpy || kind == EventKind::gpu_memset;
    if (!is_copy || !starts_in(trace, event, window)) continue;
    const bool is_memcpy = kind == EventKind::gpu_memcpy;
    ++(is_memcpy ? summary.memcpys : summary.memsets);
    add_bounded(is_memcpy ? summary.memcpy_ns : summary.memset_ns,
                trace.events().duration_ns(event));
  }
}

}  // namespace tbtrace::analyses
