#include "pages/ranks/arrivals.h"

#include <algorithm>

namespace tbtrace::pages {

bool are_aligned(const JobAnalysis& job, const MatchedCollective& one) {
  const RankClock& first = job.clocks[one.members.front().rank];
  return std::ranges::all_of(one.members, [&](const CollectiveMember& member) {
    const RankClock& clock = job.clocks[member.rank];
    return clock.is_known && clock.reference == first.reference;
  });
}

std::vector<std::int64_t> arrivals_ns(const JobAnalysis& job, std::size_t number) {
  const MatchedCollective& one = job.collectives.collectives[number];
  const CollectiveTimes& times = job.times[number];
  std::vector<std::int64_t> arrivals;
  if (times.wait_ns.empty()) return arrivals;
  const bool are_clocks = are_aligned(job, one);
  for (const CollectiveMember& member : one.members) {
    const RankCollective& part = job.collectives.part(member);
    // Without clocks all end together.
    arrivals.push_back(are_clocks
                           ? job.clocks[member.rank].aligned_ns(part.start_ns) - times.start_ns
                           : times.duration_ns - (part.end_ns - part.start_ns));
  }
  return arrivals;
}

std::int64_t first_start_ns(const JobAnalysis& job) {
  const auto first = std::ranges::min_element(job.times, {}, &CollectiveTimes::start_ns);
  return first == job.times.end() ? 0 : first->start_ns;
}

}  // namespace tbtrace::pages
