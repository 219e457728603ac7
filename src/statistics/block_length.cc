#include <algorithm>
#include <cmath>
#include <vector>

#include "base/bounded_sum.h"
#include "base/share.h"
#include "statistics/block_bootstrap.h"

namespace tbtrace::statistics {
namespace {

constexpr std::size_t kQuietLags = 5;

/// Sums of products of deviations from the mean, for lags from 0 to `lags`, divided by the count.
std::vector<double> autocovariances(std::span<const std::int64_t> durations, std::size_t lags) {
  WideInteger sum = 0;
  for (const std::int64_t duration : durations) sum += duration;
  const double mean = mean_of_sum(sum, durations.size());
  std::vector<double> deviations;
  deviations.reserve(durations.size());
  for (const std::int64_t duration : durations) {
    deviations.push_back(static_cast<double>(duration) - mean);
  }
  std::vector<double> result(lags + 1);
  for (std::size_t lag = 0; lag <= lags; ++lag) {
    for (std::size_t step = lag; step < deviations.size(); ++step) {
      result[lag] += deviations[step] * deviations[step - lag];
    }
    result[lag] /= static_cast<double>(deviations.size());
  }
  return result;
}

/// The last lag whose correlation counts: before the first kQuietLags lags in a row that have none
/// beyond 2 sqrt(log10(n) / n); else the last one that is beyond it.
std::size_t last_correlated_lag(const std::vector<double>& covariances, double count) {
  const double limit = 2 * std::sqrt(std::log10(count) / count) * covariances[0];
  std::size_t last = 0;
  for (std::size_t lag = 1; lag < covariances.size(); ++lag) {
    if (std::abs(covariances[lag]) > limit) last = lag;
    if (lag - last == kQuietLags) break;
  }
  return last;
}

/// The smallest integer whose cube is not below `number`.
std::size_t cube_root(double number, std::size_t most) {
  std::size_t root = 1;
  while (root < most && static_cast<double>(root * root * root) < number) ++root;
  return root;
}

}  // namespace

std::size_t block_length(std::span<const std::int64_t> durations_ns) {
  const std::size_t steps = durations_ns.size();
  if (steps < 2) return 1;
  const auto count = static_cast<double>(steps);
  const double root = std::sqrt(count);
  const auto most = static_cast<std::size_t>(std::ceil(std::min(3 * root, count / 3)));
  const std::size_t least = cube_root(count, most);
  const std::size_t lags =
      std::min(steps - 1, static_cast<std::size_t>(std::ceil(root)) + kQuietLags);
  const std::vector<double> covariances = autocovariances(durations_ns, lags);
  if (!(covariances[0] > 0)) return least;

  const std::size_t last = last_correlated_lag(covariances, count);
  const std::size_t width = std::min(2 * std::max<std::size_t>(last, 1), lags);
  double spectrum = covariances[0];  // at frequency 0, times 2 pi
  double bend = 0;
  for (std::size_t lag = 1; lag <= width; ++lag) {
    const double part = static_cast<double>(lag) / static_cast<double>(width);
    const double weight = part <= 0.5 ? 1 : 2 * (1 - part);
    spectrum += 2 * weight * covariances[lag];
    bend += 2 * weight * static_cast<double>(lag) * covariances[lag];
  }
  // (2 bend^2 / (4/3 spectrum^2))^(1/3) n^(1/3)
  const double ratio = bend / spectrum;
  const double cube = 1.5 * ratio * ratio * count;
  return std::max(least, std::isfinite(cube) ? cube_root(cube, most) : most);
}

}  // namespace tbtrace::statistics
