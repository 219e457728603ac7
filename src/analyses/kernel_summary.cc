#include <array>
#include <utility>

#include <tbtrace/kernels.h>

#include "analyses/kernel_groups.h"
#include "analyses/kernel_runs.h"
#include "base/bounded_sum.h"

namespace tbtrace {
std::string_view kernel_family_name(KernelFamily family) {
  constexpr std::array<std::string_view, kKernelFamilies> kNames = {
      "gemm",    "convolution", "attention", "elementwise", "reduction", "normalization",
      "softmax", "embedding",   "pooling",   "copy",        "optimizer", "collective",
      "triton",  "sort",        "random",    "other"};
  return kNames[static_cast<std::size_t>(family)];
}

void analyses::add_copies(KernelSummary& summary, const Trace& trace,
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

Result<KernelSummary> kernel_summary(const Trace& trace, const KernelsOptions& options) {
  const auto window = analyses::checked_window(trace, options);
  if (!window.ok()) return window.status();
  analyses::KernelGroups groups(trace, options);
  const Result<std::vector<analyses::KernelRun>> runs =
      analyses::kernel_runs(trace, options, *window);
  if (!runs.ok()) return runs.status();
  groups.add(*runs);
  KernelSummary summary = std::move(groups).finish();
  analyses::add_copies(summary, trace, *window);
  return summary;
}

}  // namespace tbtrace
