// The middle of several values, and other quantiles.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace tbtrace {

/// The lower one of two middle values. `values` must not be empty.
inline std::int64_t median_of(std::vector<std::int64_t> values) {
  const auto middle = values.begin() + (std::ssize(values) - 1) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The value at a share of the way through sorted values, between two of them if need be, as
/// numpy.percentile() has it. `sorted` must not be empty.
template <typename Number>
double quantile(const std::vector<Number>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const auto low = static_cast<double>(sorted[below]);
  const auto high = static_cast<double>(sorted[std::min(below + 1, sorted.size() - 1)]);
  return low + (high - low) * (at - static_cast<double>(below));
}

}  // namespace tbtrace
