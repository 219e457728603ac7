#include "jobs/clocks/contradictions.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace tbtrace::jobs {
namespace {

constexpr double kMostContradicting = 0.02;

/// What matches by order have in common.
using OrderClass = std::tuple<std::string, std::int64_t, std::uint32_t, std::vector<std::uint32_t>>;

OrderClass class_of(const JobCollectives& job, const MatchedCollective& one) {
  const CollectiveMember& first = one.members.front();
  const RankCollective& part = job.part(first);
  std::vector<std::uint32_t> ranks;
  for (const CollectiveMember& member : one.members) ranks.push_back(member.rank);
  return {job.ranks[first.rank].record.texts[part.name], part.bytes.value_or(-1), part.stream,
          std::move(ranks)};
}

/// Whether one part ended before another one began, by more than the clocks' error.
bool contradicts(const JobCollectives& job, const MatchedCollective& one,
                 std::span<const RankClock> clocks) {
  const CollectiveMember* last = &one.members.front();
  const CollectiveMember* first = &one.members.front();
  const auto start = [&](const CollectiveMember& member) {
    return clocks[member.rank].aligned_ns(job.part(member).start_ns);
  };
  const auto end = [&](const CollectiveMember& member) {
    return clocks[member.rank].aligned_ns(job.part(member).end_ns);
  };
  for (const CollectiveMember& member : one.members) {
    if (start(member) > start(*last)) last = &member;
    if (end(member) < end(*first)) first = &member;
  }
  const std::optional<double> error =
      clock_error_ns(clocks[last->rank], job.part(*last).start_ns, clocks[first->rank],
                     job.part(*first).end_ns);
  return error && static_cast<double>(start(*last) - end(*first)) > *error;
}

}  // namespace

bool remove_contradictions(JobCollectives& job, std::span<const RankClock> clocks) {
  struct Count {
    std::uint64_t all = 0;
    std::uint64_t contradicting = 0;
  };
  std::map<OrderClass, Count> classes;
  for (const MatchedCollective& one : job.collectives) {
    if (one.by != MatchedBy::order) continue;
    Count& count = classes[class_of(job, one)];
    ++count.all;
    count.contradicting += contradicts(job, one, clocks) ? 1 : 0;
  }
  std::set<OrderClass> wrong;
  for (const auto& [key, count] : classes) {
    const auto allowed = kMostContradicting * static_cast<double>(count.all);
    if (static_cast<double>(count.contradicting) > allowed) wrong.insert(key);
  }
  if (wrong.empty()) return false;
  std::erase_if(job.collectives, [&](const MatchedCollective& one) {
    if (one.by != MatchedBy::order || !wrong.contains(class_of(job, one))) return false;
    job.unmatched[static_cast<std::size_t>(UnmatchedReason::times_contradict)] +=
        one.members.size();
    return true;
  });
  return true;
}

}  // namespace tbtrace::jobs
