// The stragglers of a job among the findings of its ranks.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tbtrace/summary.h>

#include "analyses/findings/communication_rule.h"
#include "analyses/summary/detailed_summary.h"
#include "base/share.h"

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
  finding.share_of = ShareOf::step_time;
  finding.gain_ns =
      static_cast<std::int64_t>(static_cast<double>(straggler.excess_per_step_ns) * late);
  finding.is_gain_per_step = true;
  finding.gain_how = "what others waited for the rank, per step";
  return finding;
}

Finding finding_of(const Pause& pause, std::size_t compared_steps) {
  Finding finding = {.id = "pause",
                     .title = "The job waited for this rank once",
                     .remedy = std::string(straggler_remedy(pause.cause)),
                     .evidence = {}};
  if (pause.is_silent) {
    finding.remedy =
        "find out what held up its host then: Python's garbage collection "
        "(gc.freeze(), gc.collect() between steps), another process, its file system; "
        "record this rank with Python stacks (with_stack=True)";
  }
  finding.evidence.push_back({"longer than on other ranks", pause.excess_ns, "ns",
                              "in step " + std::to_string(pause.step) + ", number " +
                                  std::to_string(pause.place + 1) + " of " +
                                  std::to_string(compared_steps)});
  finding.share = pause.share;
  finding.own_share = finding.share;
  finding.share_of = ShareOf::step_time;
  finding.gain_ns =
      pause.excess_ns / static_cast<std::int64_t>(std::max<std::size_t>(1, compared_steps));
  finding.is_gain_per_step = true;
  finding.gain_how = "what others waited for the rank, mean of all steps";
  return finding;
}

/// Adds how much of a rank's exposed communication is waiting, which only the job shows.
void explain_communication(Finding& finding, const RankWaits& waits,
                           const StragglerResult& result) {
  const auto* const value = std::get_if<std::int64_t>(&finding.evidence.front().value);
  if (value == nullptr || *value <= 0 || waits.collectives == 0) return;
  const std::int64_t exposed_ns = *value;  // evidence is added below
  const double waiting = std::min(1.0, share(waits.exposed_wait_ns, exposed_ns));
  constexpr double kMost = 0.5;
  constexpr double kNearlyAll = 0.8;
  // Where waits are not known, there may be more.
  if (waiting < kMost && share(waits.known_exposed_ns, exposed_ns) < kNearlyAll) return;
  if (finding.remedy.ends_with(analyses::kWaitingIsUnknown)) {
    finding.remedy.resize(finding.remedy.size() - analyses::kWaitingIsUnknown.size());
  }
  finding.evidence.push_back({"the part of it that waits for other ranks", waiting, "share", ""});
  if (const std::optional<double> bubbles = waits.bubble_share()) {
    finding.evidence.push_back({"bubbles of the pipeline, of the steps", *bubbles, "share", ""});
    if (share(*waits.bubble_ns, exposed_ns) >= kMost) {
      finding.title = "The pipeline has bubbles: its stages wait for each other";
      return;
    }
  }
  if (waiting < kMost) return;
  std::string whom = "most of it waits for ranks that come later: ";
  if (!result.stragglers.empty() && result.stragglers.front().rank != waits.rank) {
    whom += "rank " + std::to_string(result.stragglers.front().rank) + " holds up the job";
  } else if (!result.pauses.empty() && result.pauses.front().rank != waits.rank) {
    whom += "rank " + std::to_string(result.pauses.front().rank) + " in step " +
            std::to_string(result.pauses.front().step);
  } else {
    whom += "`tbtrace collectives` has the waits of each rank";
  }
  finding.remedy = waiting >= kNearlyAll ? whom : whom + "; " + finding.remedy;
}

}  // namespace

void add_straggler_findings(std::vector<TraceSummary>& summaries, const StragglerResult& result) {
  for (const Straggler& straggler : result.stragglers) {
    const std::optional<std::size_t> at = analyses::summary_of_rank(summaries, straggler.rank);
    if (!at) continue;
    std::vector<Finding>& findings = summaries[*at].findings;
    findings.push_back(finding_of(straggler));
  }
  for (const Pause& pause : result.pauses) {
    const std::optional<std::size_t> at = analyses::summary_of_rank(summaries, pause.rank);
    if (at) summaries[*at].findings.push_back(finding_of(pause, result.compared_steps));
  }
  for (const RankWaits& waits : result.waits) {
    const std::optional<std::size_t> at = analyses::summary_of_rank(summaries, waits.rank);
    if (!at) continue;
    for (Finding& finding : summaries[*at].findings) {
      if (finding.id == "exposed_communication") explain_communication(finding, waits, result);
    }
  }
  for (TraceSummary& summary : summaries) {
    std::ranges::stable_sort(summary.findings, [](const Finding& one, const Finding& other) {
      return one.is_before(other);
    });
  }
}

}  // namespace tbtrace
