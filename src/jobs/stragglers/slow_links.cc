#include "jobs/stragglers/slow_links.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "base/bounded_sum.h"

namespace tbtrace::jobs {
namespace {

constexpr double kSlow = 1.25;        // of the usual transfer
constexpr double kLeastShare = 0.02;  // of the median step
constexpr std::size_t kLeastSteps = 2;

/// What transfers have in common that should take equally long.
struct TransferClass {
  CollectiveKind kind = CollectiveKind::other;
  std::int64_t bytes = 0;
  std::size_t ranks = 0;
  std::size_t hosts = 0;

  auto operator<=>(const TransferClass&) const = default;  // NOLINT(modernize-use-nullptr): in std
};

using Group = std::vector<std::uint32_t>;

/// The transfers of a group in one step; each as often as it stands for others.
struct Transfers {
  double ns = 0;
  double exposed_ns = 0;  ///< the part in which the ranks did nothing else, at most
  double count = 0;

  double mean() const { return ns / count; }
};

struct Slowness {
  std::set<Group> slow;
  std::set<std::uint32_t> usual;  ///< ranks in groups of usual speed
  std::map<Group, double> extra_ns;
};

/// Ranks of one host are numbered one after the other, as their devices are; so without a name the
/// rank that has its first device tells.
std::string host_of(const JobRank& rank) {
  if (!rank.record.host.empty() || !rank.record.device) return rank.record.host;
  return std::to_string(bounded(WideInteger{rank.rank} - *rank.record.device));
}

class LinkSearch {
 public:
  LinkSearch(const JobCollectives& job, std::span<const CollectiveTimes> times,
             const StepFigures& figures)
      : job_(job),
        figures_(figures),
        has_hosts_(std::ranges::none_of(
            job.ranks, [](const JobRank& rank) { return host_of(rank).empty(); })) {
    for (std::size_t number = 0; number < job.collectives.size(); ++number) {
      add(job.collectives[number], times[number]);
    }
  }

  std::vector<Straggler> run() const {
    std::map<Group, std::map<std::size_t, double>> suspects;  // extra ns by step
    for (std::size_t step = 0; step < figures_.steps().size(); ++step) {
      const Slowness slowness = slowness_of(step);
      if (slowness.slow.empty()) continue;
      const Group common = in_all(slowness.slow);
      Group left;
      std::ranges::copy_if(common, std::back_inserter(left),
                           [&](std::uint32_t rank) { return !slowness.usual.contains(rank); });
      // A slow link: both ends are fast with others. Where the files do not say their hosts, a link
      // may be slow because it leaves the host.
      const bool may_leave_host = !has_hosts_ && (left.empty() || slowness.slow.size() < 2);
      const Group& suspect = left.empty() ? common : left;
      if (suspect.empty() || suspect.size() > 2 || may_leave_host) continue;
      double extra = 0;
      for (const auto& [group, ns] : slowness.extra_ns) extra += ns;
      if (extra >= kLeastShare * figures_.median_duration()) suspects[suspect][step] = extra;
    }
    std::vector<Straggler> found;
    for (const auto& [suspect, steps] : suspects) {
      const auto least = std::max(kLeastSteps, (figures_.steps().size() + 2) / 3);
      if (steps.size() >= least) found.push_back(straggler(suspect, steps));
    }
    return found;
  }

 private:
  void add(const MatchedCollective& one, const CollectiveTimes& times) {
    const RankCollective& part = job_.part(one.members.front());
    if (!part.step || !times.transfer_ns || times.wait_ns.empty()) return;
    const auto step = std::ranges::lower_bound(figures_.steps(), *part.step);
    if (step == figures_.steps().end() || *step != *part.step) return;
    Group group;
    std::set<std::string> hosts;
    for (const CollectiveMember& member : one.members) {
      group.push_back(member.rank);
      hosts.insert(host_of(job_.ranks[member.rank]));
    }
    const CollectiveKind kind = one.by == MatchedBy::pair ? CollectiveKind::send : part.kind;
    const TransferClass key = {kind, part.bytes.value_or(-1), group.size(), hosts.size()};
    Transfers& sum =
        transfers_[static_cast<std::size_t>(step - figures_.steps().begin())][key][group];
    const auto transfer = static_cast<double>(*times.transfer_ns);
    sum.ns += one.stands_for * transfer;
    sum.exposed_ns += one.stands_for * std::min(transfer, static_cast<double>(times.exposed_ns));
    sum.count += one.stands_for;
  }

  Slowness slowness_of(std::size_t step) const {
    Slowness result;
    const auto classes = transfers_.find(step);
    if (classes == transfers_.end()) return result;
    for (const auto& [key, groups] : classes->second) {
      if (groups.size() < 2) continue;
      std::vector<double> means;
      for (const auto& [group, sum] : groups) means.push_back(sum.mean());
      // A slow rank in the middle of a short pipeline has most of the links, so that the middle
      // transfer is a slow one. If the fastest ones are fast for another reason, all are slow, and
      // no rank is in all groups.
      std::ranges::sort(means);
      const double usual = means[(means.size() - 1) / 4];
      for (const auto& [group, sum] : groups) {
        if (sum.mean() <= kSlow * usual) {
          result.usual.insert(group.begin(), group.end());
          continue;
        }
        result.slow.insert(group);
        const double extra = sum.ns - usual * sum.count;
        result.extra_ns[group] += std::min(extra, sum.exposed_ns);
      }
    }
    return result;
  }

  static Group in_all(const std::set<Group>& groups) {
    Group common = *groups.begin();
    for (const Group& group : groups) {
      std::erase_if(common, [&](std::uint32_t rank) {
        return std::ranges::find(group, rank) == group.end();
      });
    }
    return common;
  }

  Straggler straggler(const Group& suspect, const std::map<std::size_t, double>& steps) const {
    Straggler one;
    one.rank = job_.ranks[suspect.front()].rank;
    if (suspect.size() == 2) one.peer = job_.ranks[suspect.back()].rank;
    one.cause = StragglerCause::network;
    double sum = 0;
    for (const auto& [step, ns] : steps) {
      one.steps.push_back(figures_.steps()[step]);
      sum += ns;
    }
    const double mean = sum / static_cast<double>(steps.size());
    one.excess_per_step_ns = one.cause_ns = std::llround(mean);
    one.recorded_steps = figures_.steps().size();
    one.share = mean / figures_.median_duration();
    return one;
  }

  const JobCollectives& job_;
  const StepFigures& figures_;
  const bool has_hosts_;
  std::map<std::size_t, std::map<TransferClass, std::map<Group, Transfers>>> transfers_;
};

}  // namespace

std::vector<Straggler> slow_links(const JobCollectives& job, std::span<const CollectiveTimes> times,
                                  const StepFigures& figures) {
  return LinkSearch(job, times, figures).run();
}

}  // namespace tbtrace::jobs
