#include "statistics/drift.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "statistics/distributions.h"

namespace tbtrace::statistics {
namespace {

constexpr std::size_t kMostExact = 50;

struct Pairs {
  std::int64_t rising = 0;
  std::int64_t falling = 0;
  double variance = 0;  ///< of rising - falling over all orders
  bool ties = false;
  std::vector<double> slopes;  ///< of logarithms, per run
};

double variance_term(double count) { return count * (count - 1) * (2 * count + 5) / 18; }

void add_pairs(Pairs& pairs, std::span<const double> means) {
  for (std::size_t later = 1; later < means.size(); ++later) {
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      pairs.rising += means[later] > means[earlier];
      pairs.falling += means[later] < means[earlier];
      pairs.slopes.push_back((std::log(means[later]) - std::log(means[earlier])) /
                             static_cast<double>(later - earlier));
    }
  }
  pairs.variance += variance_term(static_cast<double>(means.size()));
  std::vector<double> sorted(means.begin(), means.end());
  std::ranges::sort(sorted);
  for (auto first = sorted.begin(); first != sorted.end();) {
    const auto next = std::upper_bound(first, sorted.end(), *first);
    pairs.variance -= variance_term(static_cast<double>(next - first));
    pairs.ties = pairs.ties || next - first > 1;
    first = next;
  }
}

/// The chance of each number of falling pairs, over all orders of `count` runs, added to a number
/// that has the chances `before`: the k-th run can be smaller than 0 to k - 1 earlier ones.
std::vector<double> add_orders(std::vector<double> before, std::size_t count) {
  for (std::size_t run = 2; run <= count; ++run) {
    std::vector<double> after(before.size() + run - 1);
    for (std::size_t pairs = 0; pairs < before.size(); ++pairs) {
      for (std::size_t more = 0; more < run; ++more) {
        after[pairs + more] += before[pairs] / static_cast<double>(run);
      }
    }
    before = std::move(after);
  }
  return before;
}

double exact_p_value(const Pairs& pairs, std::size_t base_runs, std::size_t new_runs) {
  const std::vector<double> chances = add_orders(add_orders({1}, base_runs), new_runs);
  const std::int64_t fewer = std::min(pairs.rising, pairs.falling);
  double tail = 0;
  for (std::int64_t falling = 0; falling <= fewer; ++falling) {
    tail += chances[static_cast<std::size_t>(falling)];
  }
  return std::min(1.0, 2 * tail);
}

double normal_p_value(const Pairs& pairs) {
  const auto distance = static_cast<double>(std::abs(pairs.rising - pairs.falling));
  if (distance <= 1) return 1;
  return std::min(1.0, 2 * upper_tail(std::nullopt, (distance - 1) / std::sqrt(pairs.variance)));
}

double median(std::vector<double>& values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle - 1] + values[middle]) / 2;
}

}  // namespace

std::optional<Drift> drift_within(std::span<const double> base_means,
                                  std::span<const double> new_means) {
  const auto is_usable = [](double mean) { return mean > 0 && std::isfinite(mean); };
  if (base_means.size() + new_means.size() < kLeastRunsForDrift ||
      !std::ranges::all_of(base_means, is_usable) || !std::ranges::all_of(new_means, is_usable)) {
    return {};
  }
  Pairs pairs;
  add_pairs(pairs, base_means);
  add_pairs(pairs, new_means);
  Drift result;
  result.exact = !pairs.ties && base_means.size() + new_means.size() <= kMostExact;
  result.p_value =
      without_last_digits(result.exact ? exact_p_value(pairs, base_means.size(), new_means.size())
                                       : normal_p_value(pairs));
  result.change_per_run = without_last_digits(std::expm1(std::min(median(pairs.slopes), 700.0)));
  return result;
}

std::optional<Drift> drift_of(std::span<const double> means_in_time_order) {
  return drift_within(means_in_time_order, {});
}

}  // namespace tbtrace::statistics
