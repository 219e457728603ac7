#include "pages/ranks/job_steps.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tbtrace::pages {
namespace {

constexpr std::array<std::string_view, kStepParts> kPartKeys = {
    "compute_ns", "wait_ns", "transfer_ns", "input_ns",  "garbage_collection_ns",
    "memory_ns",  "copy_ns", "launch_ns",   "unknown_ns"};

std::int64_t own_ns(const RankStep& step) {
  return step.duration_ns() - step.ns(RankTime::communication);
}

std::int64_t lower_median_of(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + (std::ssize(values) - 1) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

std::string_view step_part_key(StepPart part) { return kPartKeys[static_cast<std::size_t>(part)]; }

JobSteps::JobSteps(const JobAnalysis& job) : figures_(job.collectives, job.clocks) {
  const std::vector<std::vector<std::int64_t>> waits = step_waits(job.collectives, job.times);
  rows_.resize(job.collectives.ranks.size());
  for (std::size_t rank = 0; rank < rows_.size(); ++rank) {
    rows_[rank].resize(steps().size());
    const std::vector<RankStep>& recorded = job.collectives.ranks[rank].record.steps;
    for (std::size_t at = 0; at < recorded.size(); ++at) {
      const auto found = std::ranges::lower_bound(steps(), recorded[at].number);
      if (found == steps().end() || *found != recorded[at].number) continue;
      rows_[rank][static_cast<std::size_t>(found - steps().begin())] = {&recorded[at],
                                                                        waits[rank][at]};
    }
  }
  for (std::size_t step = 0; step < steps().size(); ++step) {
    std::vector<std::int64_t> own;
    for (std::size_t rank = 0; rank < rows_.size(); ++rank) {
      if (at(rank, step) != nullptr) own.push_back(own_ns(*at(rank, step)));
    }
    usual_own_ns_.push_back(lower_median_of(std::move(own)));
  }
  order_ranks(job);
  order_steps();
}

std::array<std::int64_t, kStepParts> JobSteps::parts(std::size_t rank, std::size_t step) const {
  const Place& place = rows_[rank][step];
  if (place.step == nullptr) return {};
  const auto ns = [&](RankTime time) { return place.step->ns(time); };
  return {ns(RankTime::compute),
          place.wait_ns,
          ns(RankTime::communication) - place.wait_ns,
          ns(RankTime::input),
          ns(RankTime::garbage_collection),
          ns(RankTime::memory),
          ns(RankTime::copy),
          ns(RankTime::launch),
          ns(RankTime::unknown)};
}

std::optional<std::int64_t> JobSteps::excess_ns(std::size_t rank, std::size_t step) const {
  const jobs::StepExcess excess = figures_.excess(rank, step);
  return excess.is_known ? std::optional(std::llround(excess.total)) : std::nullopt;
}

std::int64_t JobSteps::roughly_late_ns(std::size_t rank, std::size_t step) const {
  const RankStep* const one = at(rank, step);
  return one == nullptr ? 0 : own_ns(*one) - usual_own_ns_[step];
}

void JobSteps::order_ranks(const JobAnalysis& job) {
  std::vector<double> late(ranks());
  for (std::size_t rank = 0; rank < ranks(); ++rank) {
    for (std::size_t step = 0; step < steps().size(); ++step) {
      late[rank] += static_cast<double>(roughly_late_ns(rank, step));
    }
  }
  std::vector<std::size_t> rest(ranks());
  std::iota(rest.begin(), rest.end(), std::size_t{0});
  const auto take = [&](std::size_t rank) {
    ranks_by_interest_.push_back(rank);
    std::erase(rest, rank);
  };
  for (const Straggler& straggler : job.stragglers.stragglers) {
    const auto found = std::ranges::find(job.collectives.ranks, straggler.rank, &JobRank::rank);
    const auto place = static_cast<std::size_t>(found - job.collectives.ranks.begin());
    if (std::ranges::find(rest, place) != rest.end()) take(place);
  }
  std::ranges::stable_sort(rest, std::ranges::greater(),
                           [&](std::size_t rank) { return late[rank]; });
  if (!rest.empty()) take(rest[rest.size() / 2]);
  ranks_by_interest_.insert(ranks_by_interest_.end(), rest.begin(), rest.end());
}

void JobSteps::order_steps() {
  std::vector<std::int64_t> latest(steps().size());
  for (std::size_t step = 0; step < steps().size(); ++step) {
    for (std::size_t rank = 0; rank < ranks(); ++rank) {
      latest[step] = std::max(latest[step], roughly_late_ns(rank, step));
    }
  }
  std::vector<std::size_t> by_lateness(steps().size());
  std::iota(by_lateness.begin(), by_lateness.end(), std::size_t{0});
  std::ranges::stable_sort(by_lateness, std::ranges::greater(),
                           [&](std::size_t step) { return latest[step]; });
  // Evenly: the first and the last one, the middle, the quarters and so on.
  std::vector<std::size_t> evenly;
  for (std::size_t parts = 1; evenly.size() < 4 * steps().size() + 2; parts *= 2) {
    for (std::size_t part = 0; part <= parts; ++part) {
      evenly.push_back((steps().size() - 1) * part / parts);
    }
    if (steps().empty()) break;
  }
  std::vector<bool> is_taken(steps().size());
  const auto take = [&](std::size_t step) {
    if (step >= is_taken.size() || is_taken[step]) return;
    is_taken[step] = true;
    steps_by_interest_.push_back(step);
  };
  for (std::size_t turn = 0; turn < std::max(by_lateness.size(), evenly.size()); ++turn) {
    if (turn < by_lateness.size()) take(by_lateness[turn]);
    if (turn < evenly.size()) take(evenly[turn]);
  }
}

}  // namespace tbtrace::pages
