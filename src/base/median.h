// The middle of several values.
#pragma once

#include <algorithm>
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

}  // namespace tbtrace
