// The stragglers of a job among the findings of its ranks.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/summary.h>

#include "analyses/summary/detailed_summary.h"

namespace tbtrace {
namespace {

Finding finding_of(const Straggler& straggler) {
  Finding finding = {.id = "straggler",
                     .title = straggler.peer ? "The job waits for a slow link of one rank"
                                             : "The job waits for one of its ranks",
                     .remedy = std::string(straggler_remedy(straggler.cause)),
                     .evidence = {}};
  const std::string who = "rank " + std::to_string(straggler.rank);
  finding.evidence.push_back(
      {"longer than on other ranks, per late step", straggler.excess_per_step_ns, "ns", who});
  finding.evidence.push_back({"late steps", static_cast<std::uint64_t>(straggler.steps.size()), "",
                              "of " + std::to_string(straggler.recorded_steps)});
  if (straggler.cause != StragglerCause::unknown) {
    finding.evidence.push_back(
        {"explained by " + std::string(straggler_cause_name(straggler.cause)), straggler.cause_ns,
         "ns", ""});
  }
  const double late = static_cast<double>(straggler.steps.size()) /
                      static_cast<double>(std::max<std::size_t>(1, straggler.recorded_steps));
  finding.share = std::min(1.0, straggler.share * late);
  finding.own_share = finding.share;
  finding.gain_ns =
      static_cast<std::int64_t>(static_cast<double>(straggler.excess_per_step_ns) * late);
  finding.is_gain_per_step = true;
  finding.gain_how = "what others waited for the rank, per step";
  return finding;
}

}  // namespace

void add_straggler_findings(std::vector<TraceSummary>& summaries, const StragglerResult& result) {
  for (const Straggler& straggler : result.stragglers) {
    const std::optional<std::size_t> at = analyses::summary_of_rank(summaries, straggler.rank);
    if (!at) continue;
    std::vector<Finding>& findings = summaries[*at].findings;
    findings.push_back(finding_of(straggler));
    std::ranges::stable_sort(
        findings, [](const Finding& one, const Finding& other) { return one.is_before(other); });
  }
}

}  // namespace tbtrace
