// Sums of times and sizes from files, which may be any numbers.
// Pure functions, any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace tbtrace {

/// Holds the sum and the difference of any sums of up to 2^62 numbers of 64 bits. Where terms have
/// both signs, only the end result may be bounded: bounded on the way, it depends on their order.
__extension__ using WideInteger = __int128;

/// The number, or the nearest one that 64 bits hold.
inline std::int64_t bounded(WideInteger number) {
  return static_cast<std::int64_t>(std::clamp<WideInteger>(
      number, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()));
}

/// The sum, or the number nearest to it that there is.
inline std::int64_t bounded_sum(std::int64_t one, std::int64_t two) {
  return bounded(WideInteger{one} + two);
}

inline void add_bounded(std::int64_t& sum, std::int64_t more) { sum = bounded_sum(sum, more); }

}  // namespace tbtrace
