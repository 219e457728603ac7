// A job as a whole.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <tbtrace/job_analysis.h>

#include "analyses/kernels/collective_operations.h"
#include "base/bounded_sum.h"

namespace tbtrace {
namespace {

/// The part of a collective until `end` in which the rank computed nothing.
std::int64_t exposed_until(const RankRecord& record, const RankCollective& part, std::int64_t end) {
  std::int64_t exposed = 0;
  for (const ExposedRange& range :
       std::span(record.exposed).subspan(part.first_exposed, part.exposed_ranges)) {
    exposed += std::max<std::int64_t>(0, std::min(range.end_ns, end) - range.start_ns);
  }
  return exposed;
}

std::vector<RankWaits> rank_waits(const JobCollectives& job,
                                  std::span<const CollectiveTimes> times) {
  std::vector<RankWaits> waits(job.ranks.size());
  for (std::size_t rank = 0; rank < waits.size(); ++rank) waits[rank].rank = job.ranks[rank].rank;
  for (std::size_t number = 0; number < job.collectives.size(); ++number) {
    const MatchedCollective& one = job.collectives[number];
    for (std::size_t at = 0; at < one.members.size(); ++at) {
      const CollectiveMember& member = one.members[at];
      RankWaits& of_rank = waits[member.rank];
      ++of_rank.collectives;
      if (times[number].last_rank == of_rank.rank) ++of_rank.late_count;
      if (times[number].wait_ns.empty()) continue;
      const std::int64_t wait = times[number].wait_ns[at];
      add_bounded(of_rank.wait_ns, wait);
      const RankRecord& record = job.ranks[member.rank].record;
      const RankCollective& part = job.part(member);
      add_bounded(of_rank.exposed_wait_ns,
                  exposed_until(record, part, bounded_sum(part.start_ns, wait)));
      if (!times[number].transfer_ns) continue;  // a rank without a trace may have come later
      add_bounded(of_rank.known_exposed_ns, exposed_until(record, part, part.end_ns));
    }
  }
  return waits;
}

void add_bubbles(std::vector<RankWaits>& waits, const JobCollectives& job,
                 std::span<const CollectiveTimes> times) {
  std::vector<bool> has_messages(waits.size(), false);
  for (std::size_t number = 0; number < job.collectives.size(); ++number) {
    if (times[number].wait_ns.empty()) continue;
    for (const CollectiveMember& member : job.collectives[number].members) {
      if (analyses::is_message(job.part(member).kind)) has_messages[member.rank] = true;
    }
  }
  const std::vector<std::vector<std::int64_t>> bubbles =
      step_waits(job, times, StepWaits::messages);
  for (std::size_t rank = 0; rank < waits.size(); ++rank) {
    const std::vector<RankStep>& steps = job.ranks[rank].record.steps;
    for (const RankStep& step : steps) add_bounded(waits[rank].steps_ns, step.duration_ns());
    // Of a sample the waits are unknown.
    if (!has_messages[rank] || steps.empty() || job.left_out > 0) continue;
    waits[rank].bubble_ns = 0;
    for (const std::int64_t ns : bubbles[rank]) add_bounded(*waits[rank].bubble_ns, ns);
  }
}

}  // namespace

JobAnalysis analyse_job(std::vector<RankRecord> records) {
  JobAnalysis job;
  job.collectives = match_collectives(std::move(records));
  job.clocks = align_clocks(job.collectives);
  job.times = collective_times(job.collectives, job.clocks);
  job.waits = rank_waits(job.collectives, job.times);
  add_bubbles(job.waits, job.collectives, job.times);
  job.stragglers = find_stragglers(job.collectives, job.clocks, job.times);
  job.stragglers.waits = job.waits;
  return job;
}

std::optional<StragglerResult> stragglers_of(std::vector<RankRecord> records) {
  if (records.size() < 2) return std::nullopt;
  JobAnalysis job = analyse_job(std::move(records));
  const bool is_job = job.collectives.ranks.size() > 1 && !job.collectives.collectives.empty();
  return is_job ? std::optional(std::move(job.stragglers)) : std::nullopt;
}

}  // namespace tbtrace
