#include "statistics/block_bootstrap.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "base/bounded_sum.h"
#include "base/share.h"
#include "statistics/distributions.h"

namespace tbtrace::statistics {
namespace {

/// The standard says which numbers this generator makes, but not what its distributions make of
/// them.
using Generator = std::mt19937_64;

/// From 0 to less than `limit`, each as often: numbers above the last multiple of it are drawn
/// anew.
std::size_t index_below(Generator& generator, std::size_t limit) {
  constexpr std::uint64_t kLast = Generator::max();
  const std::uint64_t beyond = (kLast % limit + 1) % limit;
  std::uint64_t number = generator();
  while (number > kLast - beyond) number = generator();
  return static_cast<std::size_t>(number % limit);
}

/// A series that blocks are drawn from, with the sums up to each step.
class Series {
 public:
  explicit Series(std::span<const std::int64_t> durations)
      : steps_(durations.size()), block_(block_length(durations)), sums_(2 * steps_ + 1) {
    for (std::size_t step = 0; step < 2 * steps_; ++step) {
      sums_[step + 1] = sums_[step] + durations[step % steps_];
    }
  }

  std::size_t block() const { return block_; }
  double blocks() const { return static_cast<double>(steps_) / static_cast<double>(block_); }
  double mean() const { return mean_of_sum(sums_[steps_], steps_); }

  double drawn_mean(Generator& generator) const {
    WideInteger sum = 0;
    for (std::size_t drawn = 0; drawn < steps_; drawn += block_) {
      const std::size_t length = std::min(block_, steps_ - drawn);
      const std::size_t start = index_below(generator, steps_);
      sum += sums_[start + length] - sums_[start];
    }
    return mean_of_sum(sum, steps_);
  }

 private:
  std::size_t steps_;
  std::size_t block_;
  std::vector<WideInteger> sums_;  ///< of the series twice, one after the other
};

/// How many of the smallest, and of the largest, of `samples` ratios are outside the interval.
std::size_t outside(double level, double blocks, std::uint32_t samples) {
  const double wide = upper_quantile(std::max(blocks - 1, 1.0), (1 - level) / 2);
  const double tail = upper_tail(std::nullopt, wide * std::sqrt(blocks / (blocks - 1)));
  const double rank = std::floor(tail * (static_cast<double>(samples) + 1));
  return rank < 1 ? 0 : static_cast<std::size_t>(rank) - 1;
}

}  // namespace

std::optional<StepInterval> describe_steps(std::span<const std::int64_t> base_ns,
                                           std::span<const std::int64_t> new_ns,
                                           const BootstrapOptions& options) {
  const auto is_positive = [](std::int64_t ns) { return ns > 0; };
  if (std::min(base_ns.size(), new_ns.size()) < kLeastSteps ||
      !std::ranges::all_of(base_ns, is_positive) || !std::ranges::all_of(new_ns, is_positive) ||
      !(options.level > 0 && options.level < 1) || options.samples < 99 ||
      options.samples > 100'000) {
    return {};
  }
  const Series base(base_ns);
  const Series fresh(new_ns);
  Generator generator(options.seed);
  std::vector<double> ratios;
  ratios.reserve(options.samples);
  for (std::uint32_t sample = 0; sample < options.samples; ++sample) {
    const double base_mean = base.drawn_mean(generator);
    ratios.push_back(fresh.drawn_mean(generator) / base_mean);
  }
  std::ranges::sort(ratios);
  const std::size_t cut =
      outside(options.level, std::min(base.blocks(), fresh.blocks()), options.samples);
  return StepInterval{.change = fresh.mean() / base.mean() - 1,
                      .low = ratios[cut] - 1,
                      .high = ratios[ratios.size() - 1 - cut] - 1,
                      .base_block = base.block(),
                      .new_block = fresh.block()};
}

}  // namespace tbtrace::statistics
