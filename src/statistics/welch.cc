#include "statistics/welch.h"

#include <algorithm>
#include <cmath>

namespace tbtrace::statistics {
namespace {

constexpr std::size_t kEnoughRuns = 5;  // on one side, to serve both
constexpr std::size_t kMostRuns = 10'000;
constexpr double kMostNoise = 10;
constexpr double kNoiseExceeded = 0.001;

/// Logarithms of one side's means, relative to the unit.
struct Side {
  std::size_t runs = 0;
  double mean = 0;
  double squares = 0;  ///< sum of squared deviations from the mean

  double degrees() const { return static_cast<double>(runs) - 1; }
  double variance() const { return squares / degrees(); }
  double variance_of_mean() const { return variance() / static_cast<double>(runs); }
};

bool is_usable(double mean) { return mean > 0 && std::isfinite(mean); }

/// The ratio is exact to the last digit, so that the logarithms of similar means are, too.
double log_ratio(double value, double unit) {
  const double ratio = value / unit;
  return std::isnormal(ratio) ? std::log(ratio) : std::log(value) - std::log(unit);
}

/// Equal means have a deviation of exactly 0: sums are of differences from the first one.
Side side_of(std::span<const double> means, double unit) {
  Side side{.runs = means.size()};
  const double first = log_ratio(means[0], unit);
  double sum = 0;
  for (const double mean : means) sum += log_ratio(mean, unit) - first;
  side.mean = first + sum / static_cast<double>(means.size());
  for (const double mean : means) {
    const double deviation = log_ratio(mean, unit) - side.mean;
    side.squares += deviation * deviation;
  }
  return side;
}

/// exp(log_ratio) - 1, finite for every ratio.
double change_of(double log_ratio) {
  return without_last_digits(std::expm1(std::min(log_ratio, 700.0)));
}

double two_sided(DegreesOfFreedom degrees, double statistic) {
  return without_last_digits(std::min(1.0, 2 * upper_tail(degrees, statistic)));
}

Inference infer(double difference, double error, DegreesOfFreedom degrees,
                const DecisionRule& rule) {
  const double slower = std::log1p(rule.min_effect);
  const double faster = std::log1p(-rule.min_effect);
  const double beyond = std::max(difference - slower, faster - difference);
  Inference result;
  result.standard_error = without_last_digits(error);
  if (degrees) result.degrees = without_last_digits(*degrees);
  if (error == 0) {
    result.low = result.high = change_of(difference);
    result.p_value = difference == 0 ? 1 : 0;
    result.p_beyond = beyond > 0 ? 0 : 1;
    result.resolvable = rule.min_effect;
    return result;
  }
  const double critical = upper_quantile(degrees, (1 - rule.level) / 2);
  result.low = change_of(difference - critical * error);
  result.high = change_of(difference + critical * error);
  result.p_value = two_sided(degrees, std::abs(difference) / error);
  result.p_beyond = two_sided(degrees, beyond / error);
  result.resolvable = change_of(slower + noncentrality_for(degrees, critical, rule.power) * error);
  return result;
}

/// Satterthwaite's degrees of freedom of the sum of two variances; never below the smaller side's.
double satterthwaite(const Side& one, const Side& two) {
  const double first = one.variance_of_mean();
  const double second = two.variance_of_mean();
  if (first + second == 0) return one.degrees() + two.degrees();
  const double share = first / (first + second);
  return 1 / (share * share / one.degrees() + (1 - share) * (1 - share) / two.degrees());
}

bool is_noise(double noise) { return noise >= 0 && noise <= kMostNoise; }

/// Of the logarithms, if the means are lognormal with this relative standard deviation.
double log_noise(double noise) { return std::sqrt(std::log1p(noise * noise)); }

}  // namespace

Comparison compare_runs(std::span<const double> base_means, std::span<const double> new_means,
                        const DecisionRule& rule, std::optional<double> known_noise) {
  Comparison result;
  const auto undecided = [&result](Undecided why) {
    result.undecided = why;
    return result;
  };
  if (!std::ranges::all_of(base_means, is_usable) || !std::ranges::all_of(new_means, is_usable)) {
    return undecided(Undecided::bad_value);
  }
  if (base_means.empty() || new_means.empty()) return undecided(Undecided::too_few_runs);

  const Side base = side_of(base_means, base_means[0]);
  const Side fresh = side_of(new_means, base_means[0]);
  const double difference = fresh.mean - base.mean;
  result.change = change_of(difference);
  const double squares = base.squares + fresh.squares;
  const double degrees = base.degrees() + fresh.degrees();
  if (degrees > 0) result.noise = without_last_digits(std::sqrt(squares / degrees));

  if (!rule.is_valid() || (known_noise && !is_noise(*known_noise))) {
    return undecided(Undecided::invalid_option);
  }
  const double per_run = 1 / static_cast<double>(base.runs) + 1 / static_cast<double>(fresh.runs);
  const Side& more = base.runs >= fresh.runs ? base : fresh;
  const Side& fewer = base.runs >= fresh.runs ? fresh : base;
  if (known_noise) {
    const double deviation = log_noise(*known_noise);
    result.method = Method::known_noise;
    result.inference = infer(difference, deviation * std::sqrt(per_run), std::nullopt, rule);
    result.noise_exceeded =
        squares > 0 &&
        (deviation == 0 ||
         chi_squared_upper_tail(degrees, std::min(1e15, squares / deviation / deviation)) <
             kNoiseExceeded);
  } else if (more.runs >= kEnoughRuns && fewer.runs <= 2) {
    result.method = Method::one_side;
    result.inference =
        infer(difference, std::sqrt(more.variance() * per_run), more.degrees(), rule);
  } else if (fewer.runs >= 2) {
    result.method = Method::welch;
    const double variance = base.variance_of_mean() + fresh.variance_of_mean();
    // A small side whose runs happen to be close would count as exact: its alarms would be
    // frequent.
    const double most = 2 * fewer.degrees();
    result.inference =
        infer(difference, std::sqrt(variance), std::min(satterthwaite(base, fresh), most), rule);
  } else {
    result.undecided = Undecided::too_few_runs;
  }
  return result;
}

Verdict verdict_of(const Comparison& comparison, const DecisionRule& rule) {
  if (!comparison.inference) return Verdict::inconclusive;
  return verdict_of(comparison.inference->low, comparison.inference->high, rule);
}

std::optional<std::size_t> runs_needed(double effect, double noise, const DecisionRule& rule) {
  if (!rule.is_valid() || !is_noise(noise) || !std::isfinite(effect) || !(effect > rule.min_effect))
    return {};
  const double beyond = std::log1p(effect) - std::log1p(rule.min_effect);
  const auto is_enough = [&](std::size_t runs) {
    const double error = log_noise(noise) * std::sqrt(2 / static_cast<double>(runs));
    if (error == 0) return true;
    const double degrees = 2 * static_cast<double>(runs) - 2;
    const double critical = upper_quantile(degrees, (1 - rule.level) / 2);
    return power_of(degrees, critical, std::min(beyond / error, 1e4)) >= rule.power;
  };
  if (!is_enough(kMostRuns)) return {};
  std::size_t too_few = 1;
  std::size_t enough = kMostRuns;
  while (enough - too_few > 1) {
    const std::size_t middle = too_few + (enough - too_few) / 2;
    (is_enough(middle) ? enough : too_few) = middle;
  }
  return enough;
}

}  // namespace tbtrace::statistics
