#include "jobs/collectives/iterations.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "base/quantile.h"
#include "jobs/collectives/match_key.h"

namespace tbtrace::jobs {
namespace {

constexpr std::int64_t kFarthest = 256;  // iterations between the beginnings of two recordings
constexpr std::size_t kMostPairs = 512;  // of iterations that are compared
constexpr std::size_t kMostGroups = 8;   // of ranks that one is compared with
constexpr std::size_t kLeastIntervals = 5;
constexpr std::int64_t kHighestNumber = std::int64_t{1} << 40;
/// How much better the times between ends have to agree than anywhere else, and what they may
/// differ by in a trace with times of whole microseconds.
constexpr std::int64_t kBetter = 4;
constexpr std::int64_t kRounding = 1000;
/// Of an iteration: how far ends of the same one may be apart on a clock, on one host and if it is
/// not known whether ranks have one.
constexpr std::int64_t kPartsOnHost = 4;
constexpr std::int64_t kPartsAnywhere = 20;

bool counts_from_start(const RankRecord& record) {
  return !record.steps.empty() && std::ranges::all_of(record.steps, [](const RankStep& step) {
    return step.name != 0 && std::abs(step.number) <= kHighestNumber;
  });
}

/// The same iterations of two ranks, if those of the second one have numbers that are lower by a
/// shift.
using Pairs = std::vector<std::pair<const RankStep*, const RankStep*>>;

Pairs pairs_of(std::span<const RankStep> one, std::span<const RankStep> other, std::int64_t shift) {
  Pairs pairs;
  std::size_t a = 0;
  std::size_t b = 0;
  while (a < one.size() && b < other.size() && pairs.size() < kMostPairs) {
    const std::int64_t difference = one[a].number - (other[b].number + shift);
    if (difference == 0) pairs.emplace_back(&one[a], &other[b]);
    if (difference <= 0) ++a;
    if (difference >= 0) ++b;
  }
  return pairs;
}

/// How far the times from one end to the next differ; nullopt if there are few.
std::optional<std::int64_t> difference_of_intervals(const Pairs& pairs) {
  std::vector<std::int64_t> differences;
  for (std::size_t at = 1; at < pairs.size(); ++at) {
    const auto& [one_before, other_before] = pairs[at - 1];
    const auto& [one_now, other_now] = pairs[at];
    const std::int64_t one = one_now->end_ns - one_before->end_ns;
    const std::int64_t other = other_now->end_ns - other_before->end_ns;
    differences.push_back(std::abs(one - other));
  }
  if (differences.size() < kLeastIntervals) return std::nullopt;
  return median_of(std::move(differences));
}

/// Between ends on the clocks of both.
std::int64_t difference_of_ends(const Pairs& pairs) {
  std::vector<std::int64_t> differences;
  for (const auto& [one, other] : pairs) {
    differences.push_back(std::abs(one->end_ns - other->end_ns));
  }
  return median_of(std::move(differences));
}

std::int64_t median_duration(std::span<const RankStep> steps) {
  std::vector<std::int64_t> durations;
  for (const RankStep& step : steps) durations.push_back(step.duration_ns());
  return median_of(std::move(durations));
}

/// By group and `Seq`: the iteration.
std::map<std::pair<std::string, std::int64_t>, std::int64_t> numbered(const RankRecord& record) {
  std::vector<std::string> groups;
  for (const ProcessGroup& group : record.groups) groups.push_back(group_key(group));
  std::map<std::pair<std::string, std::int64_t>, std::int64_t> iterations;
  for (const RankCollective& part : record.collectives) {
    const bool is_numbered =
        part.sequence && part.step && !groups[part.group].empty() && ends_together(part.kind);
    if (is_numbered) iterations.try_emplace({groups[part.group], *part.sequence}, *part.step);
  }
  return iterations;
}

/// What nearly all collectives that both have agree on.
std::optional<std::int64_t> shift_by_sequences(const RankRecord& one, const RankRecord& other) {
  const auto iterations = numbered(one);
  std::map<std::int64_t, std::size_t> shifts;
  std::size_t all = 0;
  for (const auto& [key, step] : numbered(other)) {
    const auto found = iterations.find(key);
    if (found == iterations.end()) continue;
    ++shifts[found->second - step];
    ++all;
  }
  if (all == 0) return std::nullopt;
  const auto most =
      std::ranges::max_element(shifts, {}, [](const auto& each) { return each.second; });
  constexpr std::size_t kTenths = 8;
  if (most->second * 10 < all * kTenths) return std::nullopt;
  return most->first;
}

/// What has to be added to the numbers of a recording.
struct Shift {
  std::int64_t iterations = 0;
  bool is_assumed = false;  ///< nothing shows it but that there are equally many
};

/// For those of `one` to be those of `other`; nullopt: it cannot be told.
std::optional<Shift> shift_between(const RankRecord& one, const RankRecord& other) {
  if (const auto shift = shift_by_sequences(one, other)) return Shift{*shift};
  const std::size_t least = (std::min(one.steps.size(), other.steps.size()) + 1) / 2;
  std::vector<std::pair<std::int64_t, Pairs>> named;  // where all names are equal
  std::optional<std::int64_t> by_intervals;
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  std::int64_t second = best;
  for (std::int64_t shift = -kFarthest; shift <= kFarthest; ++shift) {
    Pairs pairs = pairs_of(one.steps, other.steps, shift);
    if (pairs.size() < std::min(least, kMostPairs)) continue;
    if (const auto difference = difference_of_intervals(pairs)) {
      if (*difference < best) {
        second = std::exchange(best, *difference);
        by_intervals = shift;
      } else {
        second = std::min(second, *difference);
      }
    }
    const bool are_named_so = std::ranges::all_of(
        pairs, [](const auto& pair) { return pair.first->name == pair.second->name; });
    if (are_named_so) named.emplace_back(shift, std::move(pairs));
  }
  if (named.size() == 1) {
    const auto& [shift, pairs] = named.front();
    const bool differ = std::ranges::any_of(pairs, [&first = pairs.front()](const auto& pair) {
      return pair.first->name != first.first->name;
    });
    if (differ) return Shift{shift};
  }
  const auto is_named = [&](std::int64_t shift) {
    return std::ranges::find(named, shift, &std::pair<std::int64_t, Pairs>::first) != named.end();
  };
  const bool is_better = best <= (second - std::min(second, kRounding)) / kBetter;
  if (by_intervals && is_better && second > kRounding && (named.empty() || is_named(*by_intervals)))
    return Shift{*by_intervals};
  if (named.empty()) return std::nullopt;
  const auto nearest = std::ranges::min_element(
      named, {}, [](const auto& each) { return difference_of_ends(each.second); });
  const std::int64_t apart = difference_of_ends(nearest->second);
  const std::int64_t duration = median_duration(one.steps);
  if (!one.host.empty() && one.host == other.host && apart <= duration / kPartsOnHost) {
    return Shift{nearest->first};
  }
  const bool may_have_one_clock = one.host.empty() || other.host.empty();
  const bool is_near = may_have_one_clock && apart <= duration / kPartsAnywhere;
  const bool are_as_many = one.steps.size() == other.steps.size() && is_named(0);
  if (is_near && are_as_many && nearest->first != 0) return std::nullopt;  // they disagree
  if (is_near) return Shift{nearest->first};
  return are_as_many ? std::optional(Shift{0, true}) : std::nullopt;
}

/// A recording of a rank among those that have iterations in common.
struct Placed {
  std::int64_t rank = 0;
  RankRecord* record = nullptr;
  std::int64_t shift = 0;
  bool is_assumed = false;

  std::int64_t first() const { return record->steps.front().number + shift; }
  std::int64_t last() const { return record->steps.back().number + shift; }
};
using Group = std::vector<Placed>;

std::vector<Group> groups_of(const std::vector<Placed>& recordings) {
  std::vector<Group> groups;
  for (Placed placed : recordings) {
    Group* own = nullptr;
    for (std::size_t at = 0; at < std::min(groups.size(), kMostGroups) && own == nullptr; ++at) {
      const Placed& reference = groups[at].front();
      const auto shift = shift_between(*reference.record, *placed.record);
      if (!shift) continue;
      placed.shift = reference.shift + shift->iterations;
      placed.is_assumed = shift->is_assumed;
      own = &groups[at];
    }
    if (own == nullptr) own = &groups.emplace_back();
    own->push_back(placed);
  }
  return groups;
}

void add_to_steps(RankRecord& record, std::int64_t shift) {
  for (RankStep& step : record.steps) step.number += shift;
  for (KernelSum& sum : record.kernels) sum.step += shift;
  for (RankCollective& part : record.collectives) {
    if (part.step) *part.step += shift;
  }
  record.recordings.front().added_to_steps = shift;
}

std::string ranks_text(const Group& group) {
  constexpr std::size_t kMost = 8;
  std::string text = group.size() == 1 ? "rank " : "ranks ";
  for (std::size_t at = 0; at < std::min(group.size(), kMost); ++at) {
    text += (at > 0 ? ", " : "") + std::to_string(group[at].rank);
  }
  return group.size() > kMost ? text + ", ..." : text;
}

/// Those of a group that begin later than others.
std::string beginnings_text(const Group& group, std::int64_t first) {
  constexpr std::size_t kMost = 4;
  std::string text;
  std::size_t count = 0;
  for (const Placed& placed : group) {
    if (placed.first() == first || ++count > kMost) continue;
    text += (text.empty() ? "rank " : ", rank ") + std::to_string(placed.rank) + " begins at " +
            std::to_string(placed.first() - first);
  }
  return count > kMost ? text + ", ..." : text;
}

}  // namespace

void number_iterations(std::map<std::int64_t, std::vector<RankRecord>>& by_rank,
                       std::vector<std::string>& notes) {
  std::size_t most = 0;
  for (const auto& [rank, recordings] : by_rank) most = std::max(most, recordings.size());
  std::int64_t next = 0;  // number for a group's first iteration
  for (std::size_t number = 0; number < most; ++number) {
    std::vector<Placed> recordings;
    for (auto& [rank, of_rank] : by_rank) {
      if (number >= of_rank.size() || !counts_from_start(of_rank[number])) continue;
      recordings.push_back({rank, &of_rank[number]});
    }
    const std::vector<Group> groups = groups_of(recordings);
    for (const Group& group : groups) {
      const std::int64_t first = std::ranges::min_element(group, {}, &Placed::first)->first();
      const std::int64_t last = std::ranges::max_element(group, {}, &Placed::last)->last();
      const std::string beginnings = beginnings_text(group, first);
      if (!beginnings.empty()) {
        notes.push_back(
            "the recordings of ranks begin at different iterations. Iterations are "
            "counted from the first recorded one; " +
            beginnings);
      }
      Group assumed;
      std::ranges::copy_if(group, std::back_inserter(assumed), &Placed::is_assumed);
      if (!assumed.empty()) {
        notes.push_back(ranks_text(assumed) + (assumed.size() == 1 ? " has" : " have") +
                        " as many iterations of equal names as " + ranks_text({group.front()}) +
                        ", and " + (assumed.size() == 1 ? "is" : "are") +
                        " taken to have begun with it; nothing else shows it");
      }
      if (&group != groups.data()) {
        notes.push_back("names and times do not tell which iterations of " + ranks_text(group) +
                        " are those of " + ranks_text(groups.front()) +
                        ", so they are not compared, and have other numbers; start the profilers "
                        "of all ranks with one request");
      }
      for (const Placed& placed : group) add_to_steps(*placed.record, placed.shift - first + next);
      next += last - first + 1;
    }
  }
}

}  // namespace tbtrace::jobs
