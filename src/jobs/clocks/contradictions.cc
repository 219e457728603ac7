#include "jobs/clocks/contradictions.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace tbtrace::jobs {
namespace {

constexpr double kMostContradicting = 0.02;
constexpr double kTogether = 5'000;  // ns between ends that may be chance
constexpr double kOfStarts = 0.5;

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

/// How far the starts and ends of a rank's parts are from those of the first rank.
struct Distances {
  std::vector<double> starts;
  std::vector<double> ends;
};

/// What the matches of one class show.
struct ClassTimes {
  std::uint64_t all = 0;
  std::uint64_t contradicting = 0;
  bool has_group = false;  ///< the group is known, so it is not in doubt
  std::map<std::uint32_t, Distances> by_rank;
};

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// The median distance from the median.
double scatter(std::vector<double> values) {
  const double middle = median(values);
  for (double& value : values) value = std::abs(value - middle);
  return median(values);
}

/// Ranks that wait for each other end together, whenever they began. If the ends differ as the
/// starts do, nobody waited.
bool end_apart(const ClassTimes& times) {
  return std::ranges::any_of(times.by_rank, [](const auto& of_rank) {
    const Distances& distances = of_rank.second;
    const double ends = scatter(distances.ends);
    return ends > kTogether && ends > kOfStarts * scatter(distances.starts);
  });
}

class ContradictionSearch {
 public:
  ContradictionSearch(const JobCollectives& job, std::span<const RankClock> clocks)
      : job_(job), clocks_(clocks) {}

  std::set<OrderClass> run() {
    for (const MatchedCollective& one : job_.collectives) {
      if (one.by == MatchedBy::order) add(one, classes_[class_of(job_, one)]);
    }
    std::set<OrderClass> wrong;
    for (const auto& [key, times] : classes_) {
      const auto allowed = kMostContradicting * static_cast<double>(times.all);
      const bool is_wrong = static_cast<double>(times.contradicting) > allowed ||
                            (!times.has_group && end_apart(times));
      if (is_wrong) wrong.insert(key);
    }
    return wrong;
  }

 private:
  std::int64_t start(const CollectiveMember& member) const {
    return clocks_[member.rank].aligned_ns(job_.part(member).start_ns);
  }
  std::int64_t end(const CollectiveMember& member) const {
    return clocks_[member.rank].aligned_ns(job_.part(member).end_ns);
  }

  void add(const MatchedCollective& one, ClassTimes& times) const {
    ++times.all;
    const RankRecord& record = job_.ranks[one.members.front().rank].record;
    times.has_group = record.groups[job_.part(one.members.front()).group] != ProcessGroup();
    times.contradicting += contradicts(one) ? 1 : 0;
    const CollectiveMember& first = one.members.front();
    if (!ends_together(job_.part(first).kind)) return;
    for (const CollectiveMember& member : one.members) {
      const bool is_comparable =
          clock_error_ns(clocks_[member.rank], 0, clocks_[first.rank], 0).has_value();
      if (!is_comparable || &member == &first) continue;
      Distances& distances = times.by_rank[member.rank];
      distances.starts.push_back(static_cast<double>(start(member) - start(first)));
      distances.ends.push_back(static_cast<double>(end(member) - end(first)));
    }
  }

  /// Whether one part ended before another one began, by more than the clocks' error.
  bool contradicts(const MatchedCollective& one) const {
    const CollectiveMember* last = &one.members.front();
    const CollectiveMember* first = &one.members.front();
    for (const CollectiveMember& member : one.members) {
      if (start(member) > start(*last)) last = &member;
      if (end(member) < end(*first)) first = &member;
    }
    const std::optional<double> error =
        clock_error_ns(clocks_[last->rank], job_.part(*last).start_ns, clocks_[first->rank],
                       job_.part(*first).end_ns);
    return error && static_cast<double>(start(*last) - end(*first)) > *error;
  }

  const JobCollectives& job_;
  std::span<const RankClock> clocks_;
  std::map<OrderClass, ClassTimes> classes_;
};

}  // namespace

bool remove_contradictions(JobCollectives& job, std::span<const RankClock> clocks) {
  const std::set<OrderClass> wrong = ContradictionSearch(job, clocks).run();
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
