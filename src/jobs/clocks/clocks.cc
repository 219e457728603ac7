// Clocks of ranks on one scale. Two ranks that took part in the same collectives are compared by
// the ends of these; others through ranks between them, along the way with the smallest error. Only
// ranks that no collective connects are compared by messages in both directions.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <tbtrace/clocks.h>

#include "base/bounded_sum.h"
#include "jobs/clocks/contradictions.h"
#include "statistics/robust_line.h"

namespace tbtrace {
namespace {

constexpr std::size_t kLeastCollectives = 5;
constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

/// The ends of one rank that another rank also has, by time.
struct CommonEnds {
  std::vector<std::int64_t> own;
  std::vector<std::int64_t> other;
};

/// For each rank the places of its collectives in the job that end together.
std::vector<std::vector<std::size_t>> collectives_of_ranks(const JobCollectives& job) {
  std::vector<std::vector<std::size_t>> all(job.ranks.size());
  for (std::size_t number = 0; number < job.collectives.size(); ++number) {
    for (const CollectiveMember& member : job.collectives[number].members) {
      if (ends_together(job.part(member).kind)) all[member.rank].push_back(number);
    }
  }
  return all;
}

/// The same of messages.
std::vector<std::vector<std::size_t>> messages_of_ranks(const JobCollectives& job) {
  std::vector<std::vector<std::size_t>> all(job.ranks.size());
  for (std::size_t number = 0; number < job.collectives.size(); ++number) {
    const MatchedCollective& one = job.collectives[number];
    if (one.by != MatchedBy::pair) continue;
    for (const CollectiveMember& member : one.members) all[member.rank].push_back(number);
  }
  return all;
}

/// How one clock differs from another one: `one` shows what `other` shows, plus the line.
struct ClockDifference {
  statistics::RobustLine line;  ///< of time on the clock of `one`, in ns from `origin_ns`
  std::int64_t origin_ns = 0;
  double length_ns = 0;  ///< from the first end to the last one
  std::uint64_t collectives = 0;
};

class Aligner {
 public:
  explicit Aligner(const JobCollectives& job)
      : job_(job),
        collectives_(collectives_of_ranks(job)),
        messages_(messages_of_ranks(job)),
        is_done_(job.collectives.size(), false),
        clocks_(job.ranks.size()) {
    for (std::size_t place = 0; place < clocks_.size(); ++place) {
      clocks_[place].rank = clocks_[place].reference = job.ranks[place].rank;
    }
  }

  std::vector<RankClock> run() {
    std::vector<bool> is_reached(clocks_.size(), false);
    for (std::uint32_t root = 0; root < clocks_.size(); ++root) {
      if (!is_reached[root]) reach_from(root, is_reached);
    }
    return std::move(clocks_);
  }

 private:
  using Candidates = std::map<std::uint32_t, RankClock>;

  void reach_from(std::uint32_t root, std::vector<bool>& is_reached) {
    is_reached[root] = true;
    clocks_[root].middle_ns = job_.ranks[root].record.start_ns;
    std::vector<std::uint32_t> all = {root};
    std::size_t done = 0;  // whose collectives were looked at
    for (;;) {
      Candidates next;
      const auto consider = [&](std::uint32_t near, std::uint32_t far,
                                const std::optional<ClockDifference>& difference) {
        if (!difference) return;
        const RankClock clock = chained(far, near, root, *difference);
        const auto [found, is_new] = next.try_emplace(far, clock);
        if (!is_new && clock.error_ns < found->second.error_ns) found->second = clock;
      };
      // In rounds, so that each difference is computed once and few ranks are between two.
      for (; done < all.size(); ++done) {
        for (const auto& [far, ends] : ends_with_others(all[done], is_reached)) {
          consider(all[done], far, compare(ends));
        }
      }
      if (next.empty()) {
        for (const std::uint32_t near : all) {
          for (const auto& [far, ends] : message_ends(near, is_reached)) {
            consider(near, far, compare_messages(ends));
          }
        }
        keep_best(next);
      }
      if (next.empty()) return;
      for (const auto& [far, clock] : next) {
        clocks_[far] = clock;
        is_reached[far] = true;
        clocks_[root].is_known = true;
        clocks_[root].collectives = std::max(clocks_[root].collectives, clock.collectives);
        all.push_back(far);
      }
    }
  }

  /// Its collectives may connect the others better than messages do.
  static void keep_best(Candidates& candidates) {
    const auto best = std::ranges::min_element(candidates, {},
                                               [](const auto& one) { return one.second.error_ns; });
    if (best == candidates.end()) return;
    Candidates kept;
    kept.insert(*best);
    candidates = std::move(kept);
  }

  /// Ends of messages with ranks that are not reached yet, on those and on `near`.
  struct MessageEnds {
    CommonEnds received;
    CommonEnds sent;
  };

  std::map<std::uint32_t, MessageEnds> message_ends(std::uint32_t near,
                                                    const std::vector<bool>& is_reached) const {
    std::map<std::uint32_t, MessageEnds> ends;
    for (const std::size_t number : messages_[near]) {
      const MatchedCollective& one = job_.collectives[number];
      const bool is_first = one.members.front().rank == near;
      const CollectiveMember& own = is_first ? one.members.front() : one.members.back();
      const CollectiveMember& other = is_first ? one.members.back() : one.members.front();
      if (is_reached[other.rank]) continue;
      MessageEnds& both = ends[other.rank];
      CommonEnds& direction =
          job_.part(other).kind == CollectiveKind::receive ? both.received : both.sent;
      direction.own.push_back(job_.part(other).end_ns);
      direction.other.push_back(job_.part(own).end_ns);
    }
    return ends;
  }

  /// A receive ends when its send does or later, so messages of one direction only bound the
  /// difference. Between the bounds of both directions it is in the middle, as with NTP, and half
  /// of what is between them is added to the error.
  static std::optional<ClockDifference> compare_messages(const MessageEnds& ends) {
    std::optional<ClockDifference> received = compare(ends.received);
    const std::optional<ClockDifference> sent = compare(ends.sent);
    if (!received || !sent) return std::nullopt;
    statistics::RobustLine& line = received->line;
    const double at = line.middle_x + static_cast<double>(received->origin_ns - sent->origin_ns);
    const double apart = line.middle_y - sent->line.at(at);
    line.middle_y -= apart / 2;
    line.middle_error =
        std::hypot(line.middle_error, sent->line.middle_error) + std::abs(apart) / 2;
    line.slope = (line.slope + sent->line.slope) / 2;
    line.slope_error = std::hypot(line.slope_error, sent->line.slope_error);
    received->collectives += sent->collectives;
    return received;
  }

  /// By rank that is not reached yet; `own` are the ends on that rank.
  std::map<std::uint32_t, CommonEnds> ends_with_others(std::uint32_t near,
                                                       const std::vector<bool>& is_reached) {
    std::map<std::uint32_t, CommonEnds> ends;
    for (const std::size_t number : collectives_[near]) {
      if (is_done_[number]) continue;
      const MatchedCollective& one = job_.collectives[number];
      std::int64_t end = 0;
      for (const CollectiveMember& member : one.members) {
        if (member.rank == near) end = job_.part(member).end_ns;
      }
      is_done_[number] = true;
      for (const CollectiveMember& member : one.members) {
        if (is_reached[member.rank]) continue;
        is_done_[number] = false;
        CommonEnds& common = ends[member.rank];
        common.own.push_back(job_.part(member).end_ns);
        common.other.push_back(end);
      }
    }
    return ends;
  }

  /// Compares the lengths of the times between ends, so that 1970 does not cost digits.
  static std::optional<ClockDifference> compare(const CommonEnds& ends) {
    if (ends.own.size() < kLeastCollectives) return std::nullopt;
    ClockDifference difference = {
        .line = {}, .origin_ns = ends.own.front(), .collectives = ends.own.size()};
    const std::int64_t apart = ends.own.front() - ends.other.front();
    std::vector<statistics::LinePoint> points;
    points.reserve(ends.own.size());
    for (std::size_t at = 0; at < ends.own.size(); ++at) {
      points.push_back({static_cast<double>(ends.own[at] - difference.origin_ns),
                        static_cast<double>(ends.own[at] - ends.other[at] - apart)});
    }
    const std::optional<statistics::RobustLine> line = statistics::robust_line(points);
    if (!line) return std::nullopt;
    const auto [first, last] = std::ranges::minmax(ends.own);
    difference.length_ns = std::max(1.0, static_cast<double>(last - first));
    difference.line = *line;
    difference.line.middle_y += static_cast<double>(apart);
    return difference;
  }

  RankClock chained(std::uint32_t far, std::uint32_t near, std::uint32_t root,
                    const ClockDifference& difference) const {
    const RankClock& between = clocks_[near];
    RankClock clock = clocks_[far];
    clock.reference = job_.ranks[root].rank;
    clock.is_known = true;
    clock.collectives = near == root ? difference.collectives
                                     : std::min(difference.collectives, between.collectives);
    const statistics::RobustLine& line = difference.line;
    clock.middle_ns = difference.origin_ns + std::llround(line.middle_x);
    clock.offset_ns = line.middle_y;
    clock.drift_ppm = line.slope * 1e6;
    clock.error_ns = line.middle_error + line.scatter;
    clock.drift_error_ppm = (line.slope_error + line.scatter / difference.length_ns) * 1e6;
    if (near == root) return clock;
    const auto on_near = clock.middle_ns - std::llround(clock.offset_ns);
    const double of_near = static_cast<double>(on_near - between.middle_ns);
    clock.offset_ns += between.offset_ns + of_near * between.drift_ppm * 1e-6;
    clock.drift_ppm += between.drift_ppm;
    clock.error_ns = std::hypot(clock.error_ns, between.error_at_ns(on_near));
    clock.drift_error_ppm = std::hypot(clock.drift_error_ppm, between.drift_error_ppm);
    return clock;
  }

  const JobCollectives& job_;
  const std::vector<std::vector<std::size_t>> collectives_;  // by rank
  const std::vector<std::vector<std::size_t>> messages_;     // by rank
  std::vector<bool> is_done_;  // by collective: all its ranks are reached
  std::vector<RankClock> clocks_;
};

}  // namespace

std::int64_t RankClock::aligned_ns(std::int64_t own_ns) const {
  const auto since = static_cast<double>(own_ns - middle_ns);
  // Differences of two results must not overflow, whatever the lines of clocks are.
  constexpr std::int64_t kFarthest = std::int64_t{1} << 61;
  const double ahead = std::clamp(offset_ns + since * drift_ppm * 1e-6, -9e18, 9e18);
  const std::int64_t aligned = bounded(WideInteger{own_ns} - std::llround(ahead));
  return std::clamp(aligned, -kFarthest, 2 * kFarthest - 1);
}

double RankClock::error_at_ns(std::int64_t own_ns) const {
  const auto since = static_cast<double>(own_ns - middle_ns);
  return std::hypot(error_ns, since * drift_error_ppm * 1e-6);
}

std::optional<double> clock_error_ns(const RankClock& one, std::int64_t one_ns,
                                     const RankClock& other, std::int64_t other_ns) {
  if (one.rank == other.rank) return 0;
  if (!one.is_known || !other.is_known || one.reference != other.reference) return std::nullopt;
  return std::hypot(one.error_at_ns(one_ns), other.error_at_ns(other_ns));
}

std::vector<RankClock> align_clocks(JobCollectives& job) {
  std::vector<RankClock> clocks = Aligner(job).run();
  // Wrong matches also made the clocks wrong.
  if (jobs::remove_contradictions(job, clocks)) clocks = Aligner(job).run();
  return clocks;
}

}  // namespace tbtrace
