// When the parts of collectives ran, on one clock.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <tbtrace/job_analysis.h>

#include "base/bounded_sum.h"

namespace tbtrace {
namespace {

/// Times of the parts on a scale that all ranks of the collective share.
struct CommonTimes {
  std::vector<std::int64_t> starts;
  std::vector<std::int64_t> ends;
  bool are_clocks = false;  ///< of the reference's clock; otherwise from the common end
};

std::optional<CommonTimes> common_times(const JobCollectives& job, const MatchedCollective& one,
                                        std::span<const RankClock> clocks) {
  CommonTimes times;
  const RankClock& first = clocks[one.members.front().rank];
  times.are_clocks = std::ranges::all_of(one.members, [&](const CollectiveMember& member) {
    const RankClock& clock = clocks[member.rank];
    return clock.is_known && clock.reference == first.reference;
  });
  if (!times.are_clocks && !ends_together(job.part(one.members.front()).kind)) return std::nullopt;
  // Without clocks all parts end when the longest one does.
  const auto longest = std::ranges::max_element(one.members, {}, [&](const CollectiveMember& m) {
    return job.part(m).end_ns - job.part(m).start_ns;
  });
  const std::int64_t end = job.part(*longest).end_ns;
  for (const CollectiveMember& member : one.members) {
    const RankCollective& part = job.part(member);
    if (times.are_clocks) {
      times.starts.push_back(clocks[member.rank].aligned_ns(part.start_ns));
      times.ends.push_back(clocks[member.rank].aligned_ns(part.end_ns));
    } else {
      times.starts.push_back(end - (part.end_ns - part.start_ns));
      times.ends.push_back(end);
    }
  }
  return times;
}

/// The rank that arrived last, unless another one may have.
std::optional<std::int64_t> last_rank(const JobCollectives& job, const MatchedCollective& one,
                                      std::span<const RankClock> clocks, const CommonTimes& times) {
  if (!times.are_clocks) return std::nullopt;
  const auto last =
      static_cast<std::size_t>(std::ranges::max_element(times.starts) - times.starts.begin());
  const CollectiveMember& latest = one.members[last];
  for (std::size_t at = 0; at < one.members.size(); ++at) {
    if (at == last) continue;
    const CollectiveMember& other = one.members[at];
    const std::optional<double> error =
        clock_error_ns(clocks[latest.rank], job.part(latest).start_ns, clocks[other.rank],
                       job.part(other).start_ns);
    const auto before = static_cast<double>(times.starts[last] - times.starts[at]);
    if (!error || before <= *error) return std::nullopt;
  }
  return job.ranks[latest.rank].rank;
}

/// How many ranks took part, also those without a trace.
std::size_t ranks_of(const JobCollectives& job, const MatchedCollective& one) {
  const RankRecord& record = job.ranks[one.members.front().rank].record;
  const ProcessGroup& group = record.groups[job.part(one.members.front()).group];
  const auto members = static_cast<std::int64_t>(one.members.size());
  if (one.by == MatchedBy::pair) return one.members.size();
  // Without a group it is of all ranks of the job.
  const std::optional<std::int64_t> size = group == ProcessGroup() ? record.world_size : group.size;
  return static_cast<std::size_t>(std::max(size.value_or(members), members));
}

CollectiveTimes times_of(const JobCollectives& job, const MatchedCollective& one,
                         std::span<const RankClock> clocks) {
  CollectiveTimes result;
  WideInteger exposed = 0;
  for (const CollectiveMember& member : one.members) {
    const RankRecord& record = job.ranks[member.rank].record;
    const RankCollective& part = job.part(member);
    for (const ExposedRange& range :
         std::span(record.exposed).subspan(part.first_exposed, part.exposed_ranges)) {
      exposed += range.end_ns - range.start_ns;
    }
  }
  result.exposed_ns = bounded(exposed / std::ssize(one.members));
  const std::optional<CommonTimes> times = common_times(job, one, clocks);
  if (!times) {
    const auto longest = std::ranges::max_element(one.members, {}, [&](const CollectiveMember& m) {
      return job.part(m).end_ns - job.part(m).start_ns;
    });
    result.start_ns = clocks[longest->rank].aligned_ns(job.part(*longest).start_ns);
    result.duration_ns = job.part(*longest).end_ns - job.part(*longest).start_ns;
    return result;
  }
  const std::int64_t arrival = std::ranges::max(times->starts);
  const std::int64_t end = std::ranges::max(times->ends);
  result.start_ns = std::ranges::min(times->starts);
  result.duration_ns = end - result.start_ns;
  for (std::size_t at = 0; at < one.members.size(); ++at) {
    result.wait_ns.push_back(
        std::max<std::int64_t>(0, std::min(arrival, times->ends[at]) - times->starts[at]));
  }
  result.wait_max_ns = std::ranges::max(result.wait_ns);
  const RankCollective& part = job.part(one.members.front());
  const std::size_t ranks = ranks_of(job, one);
  // Ranks without a trace may have arrived later.
  if (ranks > one.members.size()) return result;
  result.transfer_ns = std::max<std::int64_t>(0, end - arrival);
  result.last_rank = last_rank(job, one, clocks, *times);
  if (part.bytes && *result.transfer_ns > 0) {
    const double per_s =
        static_cast<double>(*part.bytes) * 1e9 / static_cast<double>(*result.transfer_ns);
    result.algorithm_bandwidth_bytes_per_s = per_s;
    result.bus_bandwidth_bytes_per_s = per_s * bus_bandwidth_factor(part.kind, ranks);
  }
  return result;
}

}  // namespace

std::vector<CollectiveTimes> collective_times(const JobCollectives& job,
                                              std::span<const RankClock> clocks) {
  std::vector<CollectiveTimes> all;
  all.reserve(job.collectives.size());
  for (const MatchedCollective& one : job.collectives) all.push_back(times_of(job, one, clocks));
  return all;
}

}  // namespace tbtrace
