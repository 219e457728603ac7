// How long ranks waited for others in each of their steps.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <tbtrace/job_analysis.h>

#include "analyses/kernels/collective_operations.h"
#include "base/bounded_sum.h"
#include "base/time_ranges.h"

namespace tbtrace {

std::vector<std::vector<std::int64_t>> step_waits(const JobCollectives& job,
                                                  std::span<const CollectiveTimes> times,
                                                  StepWaits of) {
  std::vector<std::vector<TimeRange>> waits(job.ranks.size());
  for (std::size_t number = 0; number < job.collectives.size(); ++number) {
    const MatchedCollective& one = job.collectives[number];
    if (times[number].wait_ns.empty()) continue;
    for (std::size_t at = 0; at < one.members.size(); ++at) {
      const RankRecord& record = job.ranks[one.members[at].rank].record;
      const RankCollective& part = job.part(one.members[at]);
      if (of == StepWaits::messages && !analyses::is_message(part.kind)) continue;
      const std::int64_t end = bounded_sum(part.start_ns, times[number].wait_ns[at]);
      for (const ExposedRange& range :
           std::span(record.exposed).subspan(part.first_exposed, part.exposed_ranges)) {
        const TimeRange waited = {range.start_ns, std::min(range.end_ns, end)};
        if (waited.start < waited.end) waits[one.members[at].rank].push_back(waited);
      }
    }
  }
  std::vector<std::vector<std::int64_t>> result(job.ranks.size());
  for (std::size_t rank = 0; rank < job.ranks.size(); ++rank) {
    // Collectives of several streams may be waited for at once.
    std::ranges::sort(waits[rank], {}, &TimeRange::start);
    std::vector<TimeRange> all;
    for (const TimeRange& range : waits[rank]) add_range(all, range);
    const RangeLengths lengths(all);
    for (const RankStep& step : job.ranks[rank].record.steps) {
      const std::int64_t waited = lengths.within({step.start_ns, step.end_ns});
      result[rank].push_back(std::min(waited, step.ns(RankTime::communication)));
    }
  }
  return result;
}

}  // namespace tbtrace
