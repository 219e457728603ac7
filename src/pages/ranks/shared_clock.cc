#include "pages/ranks/shared_clock.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "pages/stacks_text.h"

namespace tbtrace::pages {

void emit_recordings(wire::JsonEmitter& json, const JobAnalysis& job) {
  const std::vector<JobRank>& ranks = job.collectives.ranks;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    first = std::min(first, job.clocks[rank].aligned_ns(ranks[rank].record.start_ns));
  }
  std::vector<std::int64_t> references;
  std::vector<std::int64_t> durations;
  std::vector<std::int64_t> starts;
  std::vector<std::int64_t> ends;
  std::vector<std::int64_t> errors;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const RankRecord& record = ranks[rank].record;
    const RankClock& clock = job.clocks[rank];
    const auto reference = std::ranges::lower_bound(ranks, clock.reference, {}, &JobRank::rank);
    references.push_back(reference - ranks.begin());
    durations.push_back(record.end_ns - record.start_ns);
    starts.push_back(clock.aligned_ns(record.start_ns) - first);
    ends.push_back(clock.aligned_ns(record.end_ns) - first);
    const double error =
        std::max(clock.error_at_ns(record.start_ns), clock.error_at_ns(record.end_ns));
    errors.push_back(std::isfinite(error) ? std::llround(error) : -1);
  }
  json.new_line();
  json.key("recordings");
  json.begin_object();
  emit_integers(json, "reference", references);
  emit_integers(json, "duration_ns", durations);
  emit_integers(json, "start_ns", starts);
  emit_integers(json, "end_ns", ends);
  emit_integers(json, "error_ns", errors);
  json.end_object();
}

void emit_matches(wire::JsonEmitter& json, const JobAnalysis& job, std::size_t limit) {
  const std::vector<MatchedCollective>& all = job.collectives.collectives;
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::size_t number) { return job.times[number].duration_ns; });
  std::size_t kept = 0;
  for (std::size_t members = 0; kept < order.size(); ++kept) {
    members += all[order[kept]].members.size();
    if (members > limit) break;
  }
  order.resize(kept);
  // In the order of time: neighbours are alike, which packs better.
  std::ranges::sort(order);
  std::vector<std::size_t> sizes;
  std::vector<std::int64_t> last;
  std::vector<std::uint32_t> places;
  std::vector<std::int64_t> starts;
  for (const std::size_t number : order) {
    sizes.push_back(all[number].members.size());
    last.push_back(job.times[number].last_rank.value_or(-1));
    for (const CollectiveMember& member : all[number].members) {
      places.push_back(member.rank);
      starts.push_back(job.collectives.part(member).start_ns -
                       job.collectives.ranks[member.rank].record.start_ns);
    }
  }
  json.new_line();
  json.key("matches");
  json.begin_object();
  json.key("left_out");
  json.integer(all.size() - kept);
  emit_integers(json, "members", sizes);
  emit_integers(json, "last_rank", last);
  emit_integers(json, "ranks", places);
  emit_integers(json, "start_ns", starts);
  json.end_object();
}

}  // namespace tbtrace::pages
