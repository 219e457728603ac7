// Parts of a whole, and means. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bounded_sum.h"

namespace tbtrace {

/// 0 to 1 for a part of a whole that is not negative; 0 of an empty whole.
inline double share(std::int64_t part, std::int64_t whole) {
  return whole <= 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// The double nearest to `sum` / `count` if the sum is below 2^53 (104 days of nanoseconds), on
/// every machine; 0 if `count` is 0.
inline double mean_of_sum(WideInteger sum, std::size_t count) {
  return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
}

}  // namespace tbtrace
