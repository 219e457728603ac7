#include "jobs/stragglers/step_figures.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "analyses/kernels/collective_operations.h"

namespace tbtrace::jobs {
namespace {

/// Ranks of a pipeline do the same work if they run the same number of kernels, within this share:
/// autotuning and padding may change a few.
constexpr double kSameWork = 0.02;

}  // namespace

bool has_messages(const JobCollectives& job) {
  return std::ranges::any_of(job.ranks, [](const JobRank& rank) {
    return std::ranges::any_of(rank.record.recordings, &RankRecording::has_messages) ||
           std::ranges::any_of(rank.record.collectives, [&](const RankCollective& part) {
             return analyses::is_message(part.kind) ||
                    rank.record.texts[part.name] == analyses::kSendReceive;
           });
  });
}

double lower_median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + (std::ssize(values) - 1) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

StepFigures::StepFigures(const JobCollectives& job, std::span<const RankClock> clocks)
    : job_(job), is_pipeline_(has_messages(job)) {
  std::map<std::int64_t, std::size_t> counts;
  for (const JobRank& rank : job.ranks) {
    std::set<std::int64_t> seen;
    for (const RankStep& step : rank.record.steps) seen.insert(step.number);
    for (const std::int64_t number : seen) ++counts[number];
  }
  for (const auto& [number, ranks] : counts) {
    if (ranks > 1) steps_.push_back(number);
  }
  rows_.resize(job.ranks.size());
  for (std::size_t rank = 0; rank < rows_.size(); ++rank) {
    rows_[rank].resize(steps_.size());
    const double rate = 1 - clocks[rank].drift_ppm * 1e-6;
    for (const RankStep& step : job.ranks[rank].record.steps) {
      const auto found = std::ranges::lower_bound(steps_, step.number);
      if (found == steps_.end() || *found != step.number) continue;
      StepOfRank& row = rows_[rank][static_cast<std::size_t>(found - steps_.begin())];
      row.is_there = true;
      row.duration = static_cast<double>(step.duration_ns()) * rate;
      for (std::size_t kind = 0; kind < kRankTimes; ++kind) {
        row.times[kind] = static_cast<double>(step.time_ns[kind]) * rate;
      }
      row.own = row.duration - row.times[static_cast<std::size_t>(RankTime::communication)];
      row.silent = static_cast<double>(step.silent_ns) * rate;
      row.kernels = static_cast<double>(step.kernels);
      row.launch_interval = static_cast<double>(step.launch_interval_ns) * rate;
      row.launch_intervals = static_cast<double>(step.launch_intervals);
    }
  }
  find_peers();
  find_slower_kernels();
  find_usual();
}

/// Whether the rank is there, but nobody who does the same work.
bool StepFigures::is_without_peers(std::size_t rank, std::size_t step) const {
  return rows_[rank][step].is_there && std::ranges::none_of(peers_[rank], [&](std::size_t peer) {
           return rows_[peer][step].is_there;
         });
}

/// Compares each kernel with the median of its means on other ranks, where that is needed.
void StepFigures::find_slower_kernels() {
  std::vector<std::size_t> needed;
  for (std::size_t rank = 0; rank < rows_.size(); ++rank) {
    for (std::size_t step = 0; step < steps_.size(); ++step) {
      if (!is_without_peers(rank, step)) continue;
      needed.push_back(rank);
      break;
    }
  }
  if (needed.empty()) return;
  struct Means {
    std::vector<std::pair<std::size_t, double>> by_rank;
  };
  std::unordered_map<std::uint64_t, Means> means;
  for (std::size_t rank = 0; rank < rows_.size(); ++rank) {
    std::unordered_map<std::uint64_t, std::pair<double, double>> sums;  // time, count
    for (const KernelSum& sum : job_.ranks[rank].record.kernels) {
      auto& [total, count] = sums[sum.key];
      total += static_cast<double>(sum.total_ns);
      count += static_cast<double>(sum.count);
    }
    for (const auto& [key, sum] : sums) {
      means[key].by_rank.emplace_back(rank, sum.first / sum.second);
    }
  }
  for (const std::size_t rank : needed) {
    std::unordered_map<std::uint64_t, double> usual;
    for (const KernelSum& sum : job_.ranks[rank].record.kernels) {
      const auto step = std::ranges::lower_bound(steps_, sum.step);
      if (step == steps_.end() || *step != sum.step) continue;
      const auto [found, is_new] = usual.try_emplace(sum.key, -1);
      if (is_new) {
        std::vector<double> others;
        for (const auto& [other, mean] : means[sum.key].by_rank) {
          if (other != rank) others.push_back(mean);
        }
        if (!others.empty()) found->second = lower_median(std::move(others));
      }
      if (found->second < 0) continue;
      rows_[rank][static_cast<std::size_t>(step - steps_.begin())].slower_kernels +=
          static_cast<double>(sum.total_ns) - static_cast<double>(sum.count) * found->second;
    }
  }
}

void StepFigures::find_peers() {
  std::vector<double> kernels;
  for (const std::vector<StepOfRank>& row : rows_) {
    std::vector<double> counts;
    for (const StepOfRank& step : row) {
      if (step.is_there) counts.push_back(step.kernels);
    }
    kernels.push_back(lower_median(std::move(counts)));
  }
  peers_.resize(rows_.size());
  for (std::size_t rank = 0; rank < rows_.size(); ++rank) {
    for (std::size_t other = 0; other < rows_.size(); ++other) {
      if (other == rank) continue;
      const double most = std::max(kernels[rank], kernels[other]);
      const bool is_same = std::abs(kernels[rank] - kernels[other]) <= kSameWork * most;
      if (!is_pipeline_ || is_same) peers_[rank].push_back(other);
    }
  }
}

StepFigures::Usual StepFigures::usual_of(const std::vector<const StepOfRank*>& ranks) {
  const auto median = [&](const auto& value) {
    std::vector<double> values;
    values.reserve(ranks.size());
    for (const StepOfRank* const rank : ranks) values.push_back(value(*rank));
    return lower_median(std::move(values));
  };
  Usual usual;
  for (std::size_t kind = 0; kind < kRankTimes; ++kind) {
    usual.times[kind] = median([&](const StepOfRank& rank) { return rank.times[kind]; });
  }
  usual.own = median([](const StepOfRank& rank) { return rank.own; });
  usual.silent = median([](const StepOfRank& rank) { return rank.silent; });
  usual.launch_interval = median([](const StepOfRank& rank) { return rank.launch_interval; });
  // Here the usual rank is one that waits: the upper one of two.
  constexpr auto kCommunication = static_cast<std::size_t>(RankTime::communication);
  usual.most_communication =
      -median([](const StepOfRank& rank) { return -rank.times[kCommunication]; });
  return usual;
}

/// Without a pipeline all ranks do the same work. Of two each is compared with the other one.
void StepFigures::find_usual() {
  usual_.resize(steps_.size());
  if (is_pipeline_) return;
  for (std::size_t step = 0; step < steps_.size(); ++step) {
    std::vector<const StepOfRank*> there;
    for (const std::vector<StepOfRank>& row : rows_) {
      if (row[step].is_there) there.push_back(&row[step]);
    }
    if (there.size() > 2) usual_[step] = usual_of(there);
  }
}

StepExcess StepFigures::excess(std::size_t rank, std::size_t step) const {
  StepExcess excess;
  const StepOfRank& row = rows_[rank][step];
  if (!row.is_there) return excess;
  std::optional<Usual> usual = usual_[step];
  std::vector<const StepOfRank*> others;
  const bool has_peers = usual || !is_without_peers(rank, step);
  if (!usual) {
    for (std::size_t other = 0; other < rows_.size(); ++other) {
      if (other != rank && rows_[other][step].is_there) others.push_back(&rows_[other][step]);
    }
    if (others.empty()) return excess;
    std::vector<const StepOfRank*> peers;
    for (const std::size_t peer : peers_[rank]) {
      if (rows_[peer][step].is_there) peers.push_back(&rows_[peer][step]);
    }
    // The middle of all, so that it is the same for all; of two ranks the other one.
    if (peers.size() > 1) peers.push_back(&row);
    usual = usual_of(has_peers ? peers : others);
  }
  excess.is_known = true;
  for (std::size_t kind = 0; kind < kRankTimes; ++kind) {
    excess.times[kind] = row.times[kind] - usual->times[kind];
  }
  excess.silent = row.silent - usual->silent;
  excess.slower_launches = (row.launch_interval - usual->launch_interval) * row.launch_intervals;
  constexpr auto kCommunication = static_cast<std::size_t>(RankTime::communication);
  excess.waited = usual->most_communication - row.times[kCommunication];
  excess.times[kCommunication] = 0;
  if (has_peers) {
    excess.total = row.own - usual->own;
    return excess;
  }
  // No other stage does the same work: its kernels are compared one by one, and how long its device
  // waits for launches by the number of these.
  excess.times[static_cast<std::size_t>(RankTime::compute)] = row.slower_kernels;
  constexpr auto kLaunch = static_cast<std::size_t>(RankTime::launch);
  std::vector<double> per_kernel;
  per_kernel.reserve(others.size());
  for (const StepOfRank* const other : others) {
    per_kernel.push_back(other->times[kLaunch] / std::max(1.0, other->kernels));
  }
  excess.times[kLaunch] = row.times[kLaunch] - lower_median(std::move(per_kernel)) * row.kernels;
  for (const double part : excess.times) excess.total += part;
  return excess;
}

double StepFigures::median_duration() const {
  std::vector<double> all;
  for (const std::vector<StepOfRank>& row : rows_) {
    for (const StepOfRank& step : row) {
      if (step.is_there) all.push_back(step.duration);
    }
  }
  return lower_median(std::move(all));
}

}  // namespace tbtrace::jobs
