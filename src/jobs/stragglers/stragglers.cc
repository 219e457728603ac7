// Which ranks their job waits for.
// In a job that waits for its slowest rank all steps are equally long on all ranks; what differs is
// how much of a step a rank needs itself, and how much it waits for others. So ranks are compared
// by the time of a step that is not exposed communication.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <utility>

#include <tbtrace/jobs.h>

#include "jobs/stragglers/slow_links.h"
#include "jobs/stragglers/step_figures.h"

namespace tbtrace {
namespace {

using jobs::StepExcess;
using jobs::StepFigures;

// docs/ranks.md says why.
constexpr double kLeastShare = 0.02;    // of the median step
constexpr double kDeviations = 4;       // of what is usual between ranks
constexpr std::size_t kLeastSteps = 3;  // that were recorded
constexpr std::size_t kLeastLate = 2;   // of these
constexpr double kWaited = 0.25;        // of the excess, which the others have to have waited
constexpr double kExplained = 0.5;      // of the excess, which a cause has to explain
/// The share of deviations below the quantile, and that quantile of a normal distribution. Less
/// than half, so that two slow ranks of four do not count as usual.
constexpr double kQuantile = 0.35;
constexpr double kNormalQuantile = 0.4538;

/// Of the excesses of ranks around the middle of each rank.
double usual_deviation(const std::vector<std::vector<StepExcess>>& excesses) {
  std::vector<double> deviations;
  for (const std::vector<StepExcess>& of_rank : excesses) {
    std::vector<double> totals;
    for (const StepExcess& excess : of_rank) {
      if (excess.is_known) totals.push_back(excess.total);
    }
    if (totals.size() < 2) continue;
    const double middle = jobs::median_of_numbers(totals);
    const auto count = static_cast<double>(totals.size());
    for (const double total : totals) {
      deviations.push_back(std::abs(total - middle) * std::sqrt(count / (count - 1)));
    }
  }
  if (deviations.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(kQuantile * static_cast<double>(deviations.size()));
  std::ranges::nth_element(deviations, deviations.begin() + at);
  return deviations[static_cast<std::size_t>(at)] / kNormalQuantile;
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
    limit_ = std::max(kLeastShare * median_step_, kDeviations * usual_deviation(excesses_));
  }

  std::vector<Straggler> run() const {
    std::vector<Straggler> found;
    for (std::size_t rank = 0; rank < excesses_.size(); ++rank) {
      const LateSteps late = late_steps(rank);
      const std::size_t least = std::max(kLeastLate, (excesses_[rank].size() + 2) / 3);
      if (late.steps.size() < least) continue;
      if (!figures_.is_pipeline() && late.mean.waited < kWaited * late.mean.total) continue;
      found.push_back(straggler(rank, late));
    }
    return found;
  }

 private:
  LateSteps late_steps(std::size_t rank) const {
    LateSteps late;
    for (std::size_t step = 0; step < excesses_[rank].size(); ++step) {
      const StepExcess& excess = excesses_[rank][step];
      if (!excess.is_known || excess.total <= limit_) continue;
      late.steps.push_back(step);
      late.mean.total += excess.total;
      late.mean.silent += excess.silent;
      late.mean.waited += excess.waited;
      for (std::size_t kind = 0; kind < kRankTimes; ++kind) {
        late.mean.times[kind] += excess.times[kind];
      }
    }
    const double count = std::max<double>(1, static_cast<double>(late.steps.size()));
    late.mean.total /= count;
    late.mean.silent /= count;
    late.mean.waited /= count;
    for (double& time : late.mean.times) time /= count;
    return late;
  }

  Straggler straggler(std::size_t rank, const LateSteps& late) const {
    Straggler one;
    one.rank = job_.ranks[rank].rank;
    one.excess_per_step_ns = std::llround(late.mean.total);
    for (const std::size_t step : late.steps) one.steps.push_back(figures_.steps()[step]);
    one.recorded_steps = figures_.steps().size();
    one.share = late.mean.total / median_step_;
    const auto most = static_cast<std::size_t>(std::ranges::max_element(late.mean.times) -
                                               late.mean.times.begin());
    const double explained = late.mean.times[most];
    if (explained < kExplained * late.mean.total) return one;
    const auto time = static_cast<RankTime>(most);
    // A host that is slow launches everything late. One that stops once for long, without a
    // recorded reason, was held by something that the trace does not show.
    if (time == RankTime::launch && late.mean.silent > kExplained * explained) return one;
    one.cause = cause_of(time);
    if (one.cause != StragglerCause::unknown) {
      one.cause_ns = std::llround(std::min(explained, late.mean.total));
    }
    return one;
  }

  const JobCollectives& job_;
  const StepFigures& figures_;
  const double median_step_;
  std::vector<std::vector<StepExcess>> excesses_;  // by rank, then by step
  double limit_ = 0;
};

std::string why_not_compared(const JobCollectives& job, const StepFigures& figures) {
  if (job.ranks.size() < 2) return "one rank cannot be compared with others";
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
  if (!result.why_not_compared.empty()) return result;
  result.compared_steps = figures.steps().size();
  result.stragglers = StragglerSearch(job, figures).run();
  for (Straggler& link : jobs::slow_links(job, times, figures)) {
    const bool is_known = std::ranges::any_of(result.stragglers, [&](const Straggler& one) {
      return one.rank == link.rank;
    });
    if (!is_known) result.stragglers.push_back(std::move(link));
  }
  std::ranges::stable_sort(result.stragglers, std::ranges::greater(),
                           &Straggler::excess_per_step_ns);
  return result;
}

}  // namespace tbtrace
