#include "writers/summary/pages.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyses/gpu/idle_account.h"
#include "base/bounded_sum.h"
#include "writers/tables/input_labels.h"

namespace tbtrace::writers {

std::vector<SharedFinding> shared_findings(std::span<const TraceSummary> summaries) {
  std::map<std::string_view, SharedFinding> by_id;
  std::vector<SharedFinding> findings;
  for (std::size_t at = 0; at < summaries.size(); ++at) {
    for (const Finding& finding : summaries[at].findings) {
      if (finding.comes_first) {
        findings.push_back({&finding, at, 1});
        continue;
      }
      SharedFinding& shared = by_id[finding.id];
      ++shared.count;
      if (shared.worst != nullptr && shared.worst->share >= finding.share) continue;
      shared.worst = &finding;
      shared.worst_summary = at;
    }
  }
  for (const auto& [id, finding] : by_id) findings.push_back(finding);
  std::ranges::stable_sort(findings, [](const SharedFinding& one, const SharedFinding& other) {
    return one.worst->is_before(*other.worst);
  });
  return findings;
}

std::vector<std::string> names_of(std::span<const TraceSummary> summaries) {
  std::vector<std::string> inputs;
  std::map<std::int64_t, std::size_t> of_rank;
  for (const TraceSummary& summary : summaries) {
    inputs.push_back(summary.run.input);
    if (summary.run.identity.rank) ++of_rank[*summary.run.identity.rank];
  }
  const std::vector<std::string> labels = input_labels(inputs);
  std::vector<std::string> names;
  for (std::size_t at = 0; at < summaries.size(); ++at) {
    const std::optional<std::int64_t>& rank = summaries[at].run.identity.rank;
    const std::string number = std::to_string(at + 1);
    if (!rank) {
      names.push_back(labels[at].empty() ? "trace " + number : labels[at]);
    } else {
      names.push_back("rank " + std::to_string(*rank));
      if (of_rank[*rank] > 1) names.back() += ", " + (labels[at].empty() ? number : labels[at]);
    }
  }
  return names;
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
    analyses::join_idle_parts(sum.idle_causes, gpu.idle_causes);
  }
  return sum;
}

}  // namespace tbtrace::writers
