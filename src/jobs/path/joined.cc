#include "jobs/path/joined.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include <tbtrace/job_analysis.h>

#include "base/bounded_sum.h"
#include "base/share.h"

namespace tbtrace::jobs {
namespace {

constexpr double kMostUnmatched = 0.02;  // of the time of a rank's collectives in steps

std::string rank_text(const JobCollectives& job, std::size_t rank) {
  return "rank " + std::to_string(job.ranks[rank].rank);
}

/// What keeps most collectives from being matched, as a sentence without a full stop.
std::string why_unmatched(const JobCollectives& job) {
  const auto most = std::ranges::max_element(job.unmatched);
  if (*most == 0) {
    return "a rank of their group has no recording here, or they are copies of several engines";
  }
  return std::string(
      unmatched_reason_text(static_cast<UnmatchedReason>(most - job.unmatched.begin())));
}

class Joiner {
 public:
  Joiner(const JobCollectives& job, const std::vector<RankClock>& clocks,
         const WorkOfCollectives& work)
      : job_(job), clocks_(clocks), work_(work) {}

  JoinedCollectives run() {
    if (find_clock_problem()) return std::move(result_);
    const std::vector<CollectiveTimes> times = collective_times(job_, clocks_);
    std::vector<std::int64_t> joined_ns(job_.ranks.size(), 0);
    for (std::size_t number = 0; number < job_.collectives.size(); ++number) {
      const MatchedCollective& one = job_.collectives[number];
      if (!times[number].transfer_ns || !are_in_graphs(one)) continue;
      for (const CollectiveMember& member : one.members) {
        const RankCollective& part = job_.part(member);
        if (part.step) add_bounded(joined_ns[member.rank], part.end_ns - part.start_ns);
      }
      add(one);
    }
    find_gaps(joined_ns);
    return std::move(result_);
  }

 private:
  bool find_clock_problem() {
    if (job_.collectives.empty()) {
      result_.problem = "none of their collectives has a counterpart on other ranks (" +
                        why_unmatched(job_) + ")";
      return true;
    }
    for (std::size_t rank = 0; rank < clocks_.size(); ++rank) {
      if (clocks_[rank].is_known && clocks_[rank].reference == clocks_.front().reference) continue;
      result_.problem = "how the clock of " + rank_text(job_, rank) +
                        " differs from those of the others is not known; that takes five "
                        "collectives which end together";
      return true;
    }
    return false;
  }

  bool are_in_graphs(const MatchedCollective& one) const {
    return std::ranges::all_of(one.members, [&](const CollectiveMember& member) {
      return work_[member.rank][member.collective] != kNoWork;
    });
  }

  void find_gaps(const std::vector<std::int64_t>& joined_ns) {
    for (std::size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      const RankRecord& record = job_.ranks[rank].record;
      std::int64_t all = 0;
      for (const RankCollective& part : record.collectives) {
        if (part.step) add_bounded(all, part.end_ns - part.start_ns);
      }
      if (share(all - joined_ns[rank], all) <= kMostUnmatched && record.calls_without_kernel == 0) {
        continue;
      }
      const auto percent = std::llround(share(all - joined_ns[rank], all) * 100);
      result_.problem = std::to_string(percent) + " % of the time that " + rank_text(job_, rank) +
                        " spends in collectives is in those without a counterpart on other ranks "
                        "(" +
                        why_unmatched(job_) + ")";
      return;
    }
  }

  void add(const MatchedCollective& one) {
    JoinedCollective joined;
    joined.is_for_all = ends_together(job_.part(one.members.front()).kind);
    std::vector<std::int64_t> ends;
    for (const CollectiveMember& member : one.members) {
      const RankCollective& part = job_.part(member);
      JoinedPart& made = joined.parts.emplace_back();
      made.rank = member.rank;
      made.work = work_[member.rank][member.collective];
      made.start_ns = clocks_[member.rank].aligned_ns(part.start_ns);
      ends.push_back(clocks_[member.rank].aligned_ns(part.end_ns));
    }
    const std::int64_t last = std::ranges::max(joined.parts, {}, &JoinedPart::start_ns).start_ns;
    for (std::size_t own = 0; own < joined.parts.size(); ++own) {
      JoinedPart& part = joined.parts[own];
      std::int64_t arrival = joined.is_for_all ? last : part.start_ns;
      for (std::uint32_t other = 0; !joined.is_for_all && other < joined.parts.size(); ++other) {
        const std::int64_t start = joined.parts[other].start_ns;
        if (other == own || start > ends[own]) continue;
        part.waits_for.push_back(other);
        arrival = std::max(arrival, start);
      }
      arrival = std::min(arrival, std::max(part.start_ns, ends[own]));
      part.wait_ns = arrival - part.start_ns;
      part.transfer_ns = std::max<std::int64_t>(0, ends[own] - arrival);
    }
    result_.collectives.push_back(std::move(joined));
  }

  const JobCollectives& job_;
  const std::vector<RankClock>& clocks_;
  const WorkOfCollectives& work_;
  JoinedCollectives result_;
};

}  // namespace

JoinedCollectives join_collectives(const JobCollectives& job, const std::vector<RankClock>& clocks,
                                   const WorkOfCollectives& work) {
  return Joiner(job, clocks, work).run();
}

}  // namespace tbtrace::jobs
