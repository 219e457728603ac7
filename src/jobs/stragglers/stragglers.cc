// Which ranks their job waits for.
// In a job that waits for its slowest rank all steps are equally long on all ranks; what differs is
// how much of a step a rank needs itself, and how much it waits for others. So ranks are compared
// by the time of a step that is not exposed communication.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <tbtrace/job_analysis.h>

#include "base/bounded_sum.h"
#include "jobs/stragglers/slow_links.h"
#include "jobs/stragglers/step_figures.h"
#include "statistics/distributions.h"

namespace tbtrace {
namespace {

using jobs::StepExcess;
using jobs::StepFigures;

// docs/ranks.md says why.
constexpr double kLeastShare = 0.02;  // of the median step
/// What one step of a rank has to take longer, of the median step, to be worth a sentence; and how
/// much less every other rank and step may.
constexpr double kPauseOfStep = 0.5;
constexpr double kOthersOfPause = 0.2;
constexpr std::size_t kMostPauses = 3;
constexpr double kSilentOfPause = 0.5;
/// Of what ranks waited for: what a few ranks have to be last for to be named, and how few.
constexpr double kLateOfWaits = 0.8;
constexpr std::size_t kRanksPerLate = 3;
/// How likely it may be that chance makes a rank of a job without stragglers look late.
constexpr double kByChance = 5e-4;
constexpr double kLeastDeviations = 2;    // of what is usual between steps
constexpr double kDeviationsOfRanks = 2;  // of what is usual between ranks
constexpr std::size_t kLeastSteps = 3;    // that were recorded
constexpr std::size_t kLeastLate = 2;     // of these
constexpr double kWaited = 0.25;          // of the excess, which the others have to have waited
constexpr double kExplained = 0.5;        // of the excess, which a cause has to explain
/// Of the idle time that late launches explain: what launches at the host's usual speed have to
/// explain. Where all hosts are as slow as the device, one that once fell behind stays behind: its
/// device waits for every launch, while the others, which wait for it, seem to be fast.
constexpr double kHostSlower = 0.3;
/// The same of the three longest times in which such a host recorded nothing: then it was held by
/// something that the trace does not show.
constexpr double kPause = 1.0 / 3;
/// The share of deviations below the quantile, and that quantile of a normal distribution. Less
/// than half, so that two slow ranks of four do not count as usual.
constexpr double kQuantile = 0.35;
constexpr double kNormalQuantile = 0.4538;

/// How far the excesses of ranks are apart in a job that waits for nobody: standard deviations.
struct UsualDeviation {
  double of_steps = 0;  ///< of one rank, around its middle
  double of_ranks = 0;  ///< of the ranks' middles: devices differ for good
  double degrees = 1;   ///< of freedom, of the first
};

double deviation_by_quantile(std::vector<double>& distances) {
  if (distances.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(kQuantile * static_cast<double>(distances.size()));
  std::ranges::nth_element(distances, distances.begin() + at);
  return distances[static_cast<std::size_t>(at)] / kNormalQuantile;
}

UsualDeviation usual_deviation(const std::vector<std::vector<StepExcess>>& excesses) {
  std::vector<double> of_steps;
  std::vector<double> of_ranks;
  for (const std::vector<StepExcess>& of_rank : excesses) {
    std::vector<double> totals;
    for (const StepExcess& excess : of_rank) {
      if (excess.is_known) totals.push_back(excess.total);
    }
    if (totals.size() < 2) continue;
    const double middle = jobs::lower_median(totals);
    of_ranks.push_back(std::abs(middle));
    // What is 0 by definition tells nothing: the middle rank of a step, and the rank's middle.
    std::vector<double> distances;
    for (const double total : totals) {
      if (total != 0) distances.push_back(std::abs(total - middle));
    }
    std::ranges::sort(distances);
    const std::ptrdiff_t zeros = middle == 0 ? 0 : 1;
    if (std::ssize(distances) > zeros) {
      of_steps.insert(of_steps.end(), distances.begin() + zeros, distances.end());
    }
  }
  // A quantile tells about half as much as a variance.
  const double degrees = std::max(1.0, static_cast<double>(of_steps.size()) / 2);
  // Of two ranks both are equally far from the other.
  return {deviation_by_quantile(of_steps),
          excesses.size() == 2 ? 0 : deviation_by_quantile(of_ranks), degrees};
}

StragglerCause cause_of(RankTime time) {
  switch (time) {
    case RankTime::compute:
      return StragglerCause::compute;
    case RankTime::input:
      return StragglerCause::input;
    case RankTime::garbage_collection:
      return StragglerCause::garbage_collection;
    case RankTime::memory:
      return StragglerCause::memory;
    case RankTime::launch:
      return StragglerCause::launch;
    default:
      return StragglerCause::unknown;
  }
}

/// Mean of the steps in which a rank is late.
struct LateSteps {
  std::vector<std::size_t> steps;
  StepExcess mean;
};

class StragglerSearch {
 public:
  StragglerSearch(const JobCollectives& job, const StepFigures& figures)
      : job_(job), figures_(figures), median_step_(figures.median_duration()) {
    excesses_.resize(figures.ranks());
    for (std::size_t rank = 0; rank < figures.ranks(); ++rank) {
      for (std::size_t step = 0; step < figures.steps().size(); ++step) {
        excesses_[rank].push_back(figures.excess(rank, step));
      }
    }
    find_pauses();
    usual_ = usual_deviation(excesses_);
  }

  /// Those of ranks besides the stragglers.
  std::vector<Pause> pauses(const std::vector<Straggler>& stragglers) const {
    std::vector<Pause> found = pauses_;
    std::erase_if(found, [&](const Pause& pause) {
      return std::ranges::any_of(stragglers,
                                 [&](const Straggler& one) { return one.rank == pause.rank; });
    });
    return found;
  }

  std::vector<Straggler> run() const {
    std::vector<Straggler> found;
    for (std::size_t rank = 0; rank < excesses_.size(); ++rank) {
      const std::optional<double> limit = limit_of(rank);
      if (!limit) continue;
      const LateSteps late = late_steps(rank, *limit);
      if (!figures_.is_pipeline() && late.mean.waited < kWaited * late.mean.total) continue;
      if (std::optional<Straggler> one = straggler(rank, late, *limit))
        found.push_back(*std::move(one));
    }
    return found;
  }

  /// Of a rank that is late in all steps.
  double least_share() const {
    const std::size_t steps = figures_.steps().size() - pauses_.size();
    return median_step_ > 0 ? limit_for(steps, steps) / median_step_ : 0;
  }

 private:
  /// A step that one rank takes far longer in than anybody in any other step says nothing about
  /// what is usual, so it is compared no further.
  void find_pauses() {
    struct Place {
      std::size_t rank;
      std::size_t step;
    };
    std::vector<Place> places;
    for (std::size_t rank = 0; rank < excesses_.size(); ++rank) {
      for (std::size_t step = 0; step < excesses_[rank].size(); ++step) {
        if (excesses_[rank][step].is_known) places.push_back({rank, step});
      }
    }
    const auto excess = [&](const Place& place) -> const StepExcess& {
      return excesses_[place.rank][place.step];
    };
    std::ranges::stable_sort(places, std::ranges::greater(),
                             [&](const Place& place) { return excess(place).total; });
    std::vector<Place> found;
    for (const Place& place : places) {
      const bool is_pause = excess(place).total >= kPauseOfStep * median_step_ &&
                            excess(place).waited >= kWaited * excess(place).total;
      if (!is_pause) break;
      found.push_back(place);
    }
    const std::size_t steps = figures_.steps().size();
    if (found.empty() || found.size() > kMostPauses || found.size() * 3 > steps) return;
    if (found.size() < places.size() &&
        excess(places[found.size()]).total > kOthersOfPause * excess(found.back()).total) {
      return;
    }
    for (std::size_t at = 0; at < found.size(); ++at) {  // each step and rank once
      for (std::size_t other = 0; other < at; ++other) {
        if (found[at].step == found[other].step || found[at].rank == found[other].rank) return;
      }
    }
    double all = 0;
    for (std::size_t step = 0; step < steps; ++step) {
      all += figures_.at(found.front().rank, step).duration;
    }
    for (const Place& place : found) pauses_.push_back(pause_of(place.rank, place.step, all));
    for (const Place& place : found) {
      for (std::vector<StepExcess>& of_rank : excesses_) of_rank[place.step].is_known = false;
    }
  }

  Pause pause_of(std::size_t rank, std::size_t step, double all_steps) const {
    const StepExcess& excess = excesses_[rank][step];
    Pause pause = {.rank = job_.ranks[rank].rank,
                   .step = figures_.steps()[step],
                   .place = step,
                   .excess_ns = std::llround(excess.total),
                   .share = all_steps > 0 ? std::min(1.0, excess.total / all_steps) : 0,
                   .cause = StragglerCause::unknown,
                   .is_silent = excess.silent >= kSilentOfPause * excess.total};
    const auto most =
        static_cast<std::size_t>(std::ranges::max_element(excess.times) - excess.times.begin());
    if (excess.times[most] >= kExplained * excess.total) {
      pause.cause = cause_of(static_cast<RankTime>(most));
    }
    return pause;
  }

  /// Above which a rank is late in a step; nullopt if it is not late in enough steps.
  std::optional<double> limit_of(std::size_t rank) const {
    std::vector<double> totals;
    for (const StepExcess& excess : excesses_[rank]) {
      if (excess.is_known) totals.push_back(excess.total);
    }
    std::ranges::sort(totals, std::ranges::greater());
    const std::size_t least = std::max(kLeastLate, (totals.size() + 2) / 3);
    for (std::size_t late = totals.size(); late >= least; --late) {
      const double limit = limit_for(late, totals.size());
      if (totals[late - 1] > limit) return limit;
    }
    return std::nullopt;
  }

  /// The excess that chance hardly reaches in `late` of `steps` steps of one of the ranks, of which
  /// one may have any other reason: hosts pause now and then.
  double limit_for(std::size_t late, std::size_t steps) const {
    const auto n = static_cast<double>(steps);
    const auto k = static_cast<double>(late);
    const double log_choices = std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) +
                               std::log(static_cast<double>(excesses_.size()));
    const double probability = std::exp((std::log(kByChance) - log_choices) / (k - 1));
    const double deviations = statistics::upper_quantile(usual_.degrees, probability);
    return std::max(kLeastShare * median_step_,
                    std::max(kLeastDeviations, deviations) * usual_.of_steps +
                        kDeviationsOfRanks * usual_.of_ranks);
  }

  LateSteps late_steps(std::size_t rank, double limit) const {
    LateSteps late;
    for (std::size_t step = 0; step < excesses_[rank].size(); ++step) {
      const StepExcess& excess = excesses_[rank][step];
      if (!excess.is_known || excess.total <= limit) continue;
      late.steps.push_back(step);
      late.mean.total += excess.total;
      late.mean.silent += excess.silent;
      late.mean.slower_launches += excess.slower_launches;
      late.mean.waited += excess.waited;
      for (std::size_t kind = 0; kind < kRankTimes; ++kind) {
        late.mean.times[kind] += excess.times[kind];
      }
    }
    const double count = std::max<double>(1, static_cast<double>(late.steps.size()));
    late.mean.total /= count;
    late.mean.silent /= count;
    late.mean.slower_launches /= count;
    late.mean.waited /= count;
    for (double& time : late.mean.times) time /= count;
    return late;
  }

  /// nullopt if the rank is late without being slower than the others.
  std::optional<Straggler> straggler(std::size_t rank, const LateSteps& late, double limit) const {
    const double launch = late.mean.times[static_cast<std::size_t>(RankTime::launch)];
    const bool is_slower = late.mean.slower_launches >= kHostSlower * launch;
    const bool pauses = late.mean.silent >= kPause * launch;
    // What is left without idle time of a host that neither is slower than the others nor pauses:
    // it only is behind.
    const double own = is_slower || pauses ? late.mean.total : late.mean.total - launch;
    if (own <= limit) return std::nullopt;
    Straggler one;
    one.rank = job_.ranks[rank].rank;
    one.excess_per_step_ns = std::llround(late.mean.total);
    for (const std::size_t step : late.steps) one.steps.push_back(figures_.steps()[step]);
    one.recorded_steps = figures_.steps().size();
    one.share = late.mean.total / median_step_;
    std::array<double, kRankTimes> times = late.mean.times;
    if (!is_slower && !pauses) times[static_cast<std::size_t>(RankTime::launch)] = 0;
    const auto most = static_cast<std::size_t>(std::ranges::max_element(times) - times.begin());
    if (times[most] < kExplained * own) return one;
    one.cause = cause_of(static_cast<RankTime>(most));
    if (one.cause == StragglerCause::launch && !is_slower) one.cause = StragglerCause::unknown;
    if (one.cause != StragglerCause::unknown) {
      one.cause_ns = std::llround(std::min(times[most], late.mean.total));
    }
    return one;
  }

  const JobCollectives& job_;
  const StepFigures& figures_;
  const double median_step_;
  std::vector<std::vector<StepExcess>> excesses_;  // by rank, then by step
  UsualDeviation usual_;
  std::vector<Pause> pauses_;
};

/// Who was last in what most of the waiting was for, if these are few ranks.
std::optional<LateArrivals> late_arrivals(const JobCollectives& job, const StepFigures& figures,
                                          std::span<const CollectiveTimes> times) {
  if (figures.is_pipeline() || figures.steps().empty()) return std::nullopt;
  struct Last {
    std::size_t rank = 0;
    std::int64_t waited_ns = 0;
    std::uint64_t count = 0;
  };
  std::vector<Last> ranks(job.ranks.size());
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) ranks[rank].rank = rank;
  LateArrivals found;
  std::int64_t waited_ns = 0;
  for (const CollectiveTimes& one : times) {
    if (!one.last_rank || !one.wait_max_ns) continue;
    const auto rank = std::ranges::find(job.ranks, *one.last_rank, &JobRank::rank);
    Last& last = ranks[static_cast<std::size_t>(rank - job.ranks.begin())];
    ++last.count;
    ++found.collectives;
    add_bounded(last.waited_ns, *one.wait_max_ns);
    add_bounded(waited_ns, *one.wait_max_ns);
  }
  const double steps = figures.median_duration() * static_cast<double>(figures.steps().size());
  if (static_cast<double>(waited_ns) < kLeastShare * steps) return std::nullopt;
  std::ranges::stable_sort(ranks, std::ranges::greater(), &Last::waited_ns);
  std::array<double, kRankTimes> excess = {};
  double total = 0;
  std::int64_t explained_ns = 0;
  for (const Last& last : ranks) {
    if (static_cast<double>(explained_ns) >= kLateOfWaits * static_cast<double>(waited_ns)) break;
    add_bounded(explained_ns, last.waited_ns);
    found.late += last.count;
    found.ranks.push_back(job.ranks[last.rank].rank);
    for (std::size_t step = 0; step < figures.steps().size(); ++step) {
      const StepExcess of_step = figures.excess(last.rank, step);
      if (!of_step.is_known) continue;
      total += of_step.total;
      for (std::size_t kind = 0; kind < kRankTimes; ++kind) excess[kind] += of_step.times[kind];
    }
  }
  const std::size_t few = std::max<std::size_t>(1, job.ranks.size() / kRanksPerLate);
  if (found.ranks.empty() || found.ranks.size() > few) return std::nullopt;
  std::ranges::sort(found.ranks);
  const auto most = static_cast<std::size_t>(std::ranges::max_element(excess) - excess.begin());
  if (total > 0 && excess[most] >= kExplained * total) {
    found.cause = cause_of(static_cast<RankTime>(most));
  }
  return found;
}

std::string why_not_compared(const JobCollectives& job, const StepFigures& figures) {
  if (job.ranks.size() < 2) return "one rank cannot be compared with others";
  if (job.repeats_ranks) {
    return "traces of one rank overlap in time, so that they may be of several jobs; give those of "
           "one job";
  }
  if (job.collectives.empty()) return "no collective of two ranks could be matched";
  if (figures.steps().empty()) {
    return "the traces have no steps with collectives; call profiler.step() after each step";
  }
  if (figures.steps().size() < kLeastSteps) {
    return "the ranks have fewer than three steps in common, too few to tell a straggler from "
           "chance";
  }
  return {};
}

}  // namespace

StragglerResult find_stragglers(const JobCollectives& job, std::span<const RankClock> clocks,
                                std::span<const CollectiveTimes> times) {
  StragglerResult result;
  const StepFigures figures(job, clocks);
  result.why_not_compared = why_not_compared(job, figures);
  if (!result.why_not_compared.empty()) {
    result.late_arrivals = late_arrivals(job, figures, times);
    return result;
  }
  result.compared_steps = figures.steps().size();
  const StragglerSearch search(job, figures);
  result.stragglers = search.run();
  result.pauses = search.pauses(result.stragglers);
  result.least_share = search.least_share();
  for (Straggler& link : jobs::slow_links(job, times, figures)) {
    const bool is_known = std::ranges::any_of(
        result.stragglers, [&](const Straggler& one) { return one.rank == link.rank; });
    if (!is_known) result.stragglers.push_back(std::move(link));
  }
  std::ranges::stable_sort(result.stragglers, std::ranges::greater(),
                           &Straggler::excess_per_step_ns);
  return result;
}

}  // namespace tbtrace
