#include <array>
#include <utility>

#include <tbtrace/kernels.h>

#include "analyses/kernels/groups.h"
#include "analyses/kernels/runs.h"
#include "analyses/kernels/sums.h"
#include "analyses/steps/selection.h"

namespace tbtrace {

std::string_view kernel_family_name(KernelFamily family) {
  constexpr std::array<std::string_view, kKernelFamilies> kNames = {
      "gemm",    "convolution", "attention", "elementwise", "reduction", "normalization",
      "softmax", "embedding",   "pooling",   "copy",        "optimizer", "collective",
      "triton",  "sort",        "random",    "other"};
  return kNames[static_cast<std::size_t>(family)];
}

Result<KernelSummary> kernel_summary(const Trace& trace, const KernelsOptions& options) {
  const auto window = analyses::window_of_steps(trace, options.steps);
  if (!window.ok()) return window.status();
  analyses::KernelGroups groups(trace, options);
  groups.add(analyses::kernel_runs(trace, *window));
  KernelSummary summary = analyses::summary_of(std::move(groups).release());
  analyses::add_copies(summary, trace, *window);
  return summary;
}

}  // namespace tbtrace
