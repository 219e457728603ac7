#include "writers/summary/pages.h"

#include <algorithm>
#include <map>

#include "base/bounded_sum.h"

namespace tbtrace::writers {

std::vector<SharedFinding> shared_findings(std::span<const TraceSummary> summaries) {
  std::map<std::string_view, SharedFinding> by_id;
  for (std::size_t at = 0; at < summaries.size(); ++at) {
    for (const Finding& finding : summaries[at].findings) {
      SharedFinding& shared = by_id[finding.id];
      ++shared.count;
      if (shared.worst != nullptr && shared.worst->share >= finding.share) continue;
      shared.worst = &finding;
      shared.worst_summary = at;
    }
  }
  std::vector<SharedFinding> findings;
  findings.reserve(by_id.size());
  for (const auto& [id, finding] : by_id) findings.push_back(finding);
  std::ranges::stable_sort(findings, std::ranges::greater(),
                           [](const SharedFinding& finding) { return finding.worst->own_share; });
  return findings;
}

std::string name_of(const TraceSummary& summary) {
  const auto& rank = summary.run.identity.rank;
  if (rank) return "rank " + std::to_string(*rank);
  return summary.run.input.empty() ? "the trace" : summary.run.input;
}

GpuUse all_devices(const TraceSummary& summary) {
  GpuUse sum;
  for (const GpuUse& gpu : summary.gpus) {
    add_bounded(sum.window_ns, gpu.window_ns);
    add_bounded(sum.busy_ns, gpu.busy_ns);
    add_bounded(sum.computation_ns, gpu.computation_ns);
    add_bounded(sum.communication_ns, gpu.communication_ns);
    add_bounded(sum.exposed_communication_ns, gpu.exposed_communication_ns);
    add_bounded(sum.exposed_memory_ns, gpu.exposed_memory_ns);
    add_bounded(sum.idle_ns, gpu.idle_ns);
    add_bounded(sum.idle_host_wait_ns, gpu.idle_host_wait_ns);
    add_bounded(sum.idle_kernel_wait_ns, gpu.idle_kernel_wait_ns);
    add_bounded(sum.idle_other_ns, gpu.idle_other_ns);
  }
  return sum;
}

}  // namespace tbtrace::writers
