// Sums of times and sizes from files, which may be any numbers.
// Pure function, any thread.
#pragma once

#include <cstdint>
#include <limits>

namespace tbtrace {

/// The sum, or the number nearest to it that there is.
inline std::int64_t bounded_sum(std::int64_t one, std::int64_t two) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(one, two, &sum)) return sum;
  return one < 0 ? std::numeric_limits<std::int64_t>::min()
                 : std::numeric_limits<std::int64_t>::max();
}

inline void add_bounded(std::int64_t& sum, std::int64_t more) { sum = bounded_sum(sum, more); }

}  // namespace tbtrace
