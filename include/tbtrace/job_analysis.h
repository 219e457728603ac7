// A job as a whole: who waited for whom in its collectives, and whether one rank holds it up.
// Plain values; pure functions that any number of threads may call. Times are whole nanoseconds on
// the clock of the first rank where ranks are compared (clocks.h), and of a rank's own clock
// otherwise.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tbtrace/clocks.h>
#include <tbtrace/collectives.h>
#include <tbtrace/export.h>
#include <tbtrace/report.h>
#include <tbtrace/stragglers.h>

namespace TBTRACE_EXPORT tbtrace {

/// When the parts of a collective ran. A rank's part is a wait until the last rank arrives, then
/// the transfer.
struct CollectiveTimes {
  /// The first start, and from it to the last end, on the reference's clock. Without known clocks:
  /// of the rank that arrived first, whose part is longest.
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  /// By MatchedCollective::members; empty: unknown, since the clocks are and the ranks do not end
  /// together.
  std::vector<std::int64_t> wait_ns;
  std::optional<std::int64_t> wait_max_ns;
  /// From the last arrival to the last end; like what follows from it unknown if a rank of the
  /// group has no trace, since it may have arrived later.
  std::optional<std::int64_t> transfer_ns;
  /// The time in which a rank ran nothing else, mean of the ranks.
  std::int64_t exposed_ns = 0;
  /// Who arrived last; nullopt if the next to last rank arrived so soon before that the clocks do
  /// not tell, or if the clocks are unknown.
  std::optional<std::int64_t> last_rank;
  /// Size by transfer time, and what the slowest link of it carries (bus_bandwidth_factor()).
  std::optional<double> algorithm_bandwidth_bytes_per_s;
  std::optional<double> bus_bandwidth_bytes_per_s;
};

/// By JobCollectives::collectives.
std::vector<CollectiveTimes> collective_times(const JobCollectives& job,
                                              std::span<const RankClock> clocks);

enum class StepWaits : std::uint8_t {
  all,
  messages,  ///< in sends and receives: what bubbles of a pipeline are
};

/// By JobCollectives::ranks, then by RankRecord::steps: how long the rank waited for others in the
/// step and computed nothing, a part of its exposed communication. Waits at the same time count
/// once, waits that are unknown as none.
std::vector<std::vector<std::int64_t>> step_waits(const JobCollectives& job,
                                                  std::span<const CollectiveTimes> times,
                                                  StepWaits of = StepWaits::all);

/// Compares the steps of ranks that do the same work. A rank is late in a step if it needs more
/// time of its own (without exposed communication) than the median of the others, by 2 % of the
/// step and by four standard deviations of what is usual between ranks; it is a straggler if it is
/// late in at least two steps and in a third of a run of them. docs/ranks.md has the rules.
StragglerResult find_stragglers(const JobCollectives& job, std::span<const RankClock> clocks,
                                std::span<const CollectiveTimes> times);

struct JobAnalysis {
  JobCollectives collectives;
  std::vector<RankClock> clocks;       ///< by JobCollectives::ranks
  std::vector<CollectiveTimes> times;  ///< by JobCollectives::collectives
  std::vector<RankWaits> waits;        ///< by JobCollectives::ranks
  StragglerResult stragglers;
};

/// All of it. Takes O(n log n) time for n parts of collectives.
JobAnalysis analyse_job(std::vector<RankRecord> records);

/// What analyse_job() finds of stragglers; nullopt if the records are not of a job: of fewer than
/// two ranks, or without collectives in common.
std::optional<StragglerResult> stragglers_of(std::vector<RankRecord> records);

/// The rows of `tbtrace.collectives/1`, by start, with the totals by rank and the stragglers.
AnalysisReport collectives_report(const JobAnalysis& job);

/// The part `by_rank` of it as a table for people: waits and clocks, a row per rank.
AnalysisReport job_ranks_report(const JobAnalysis& job);

/// The clocks as a table, a row per rank.
AnalysisReport clocks_report(const JobAnalysis& job);

/// The stragglers as a table, a row each, with straggler_lines() as notes.
AnalysisReport stragglers_report(const JobAnalysis& job);

}  // namespace tbtrace
