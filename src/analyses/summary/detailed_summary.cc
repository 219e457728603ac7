#include "analyses/summary/detailed_summary.h"

#include <algorithm>

namespace tbtrace::analyses {
namespace {

/// None if several processes died: which of them matters is unknown.
std::optional<std::size_t> only_one_that_died(std::span<const TraceSummary> summaries) {
  std::optional<std::size_t> found;
  for (std::size_t at = 0; at < summaries.size(); ++at) {
    const std::optional<RecoveredRecording>& recovered = summaries[at].recovered;
    if (!recovered || recovered->window_was_open != true) continue;
    if (found) return std::nullopt;
    found = at;
  }
  return found;
}

}  // namespace

std::optional<std::size_t> summary_of_rank(std::span<const TraceSummary> summaries,
                                           std::int64_t rank) {
  const auto found = std::ranges::find_if(
      summaries, [&](const TraceSummary& summary) { return summary.run.identity.rank == rank; });
  if (found == summaries.end()) return std::nullopt;
  return static_cast<std::size_t>(found - summaries.begin());
}

DetailedSummary detailed_summary(std::span<const TraceSummary> summaries,
                                 const std::optional<StragglerResult>& stragglers) {
  if (summaries.size() < 2) return {};
  if (const std::optional<std::size_t> died = only_one_that_died(summaries)) {
    return {*died, DetailReason::died};
  }
  if (stragglers) {
    for (const Straggler& straggler : stragglers->stragglers) {
      const std::optional<std::size_t> at = summary_of_rank(summaries, straggler.rank);
      if (at && !summaries[*at].is_of_partial) return {*at, DetailReason::straggler};
    }
    for (const Pause& pause : stragglers->pauses) {
      const std::optional<std::size_t> at = summary_of_rank(summaries, pause.rank);
      if (at && !summaries[*at].is_of_partial) return {*at, DetailReason::pause};
    }
  }
  // Partials have no page of a trace, so a trace beside them comes before them.
  const auto trace = std::ranges::find(summaries, false, &TraceSummary::is_of_partial);
  if (trace == summaries.end()) return {};
  return {static_cast<std::size_t>(trace - summaries.begin()), DetailReason::first};
}

}  // namespace tbtrace::analyses
