// Sums and products of times, sizes and counts from files, where any number may occur. Any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace tbtrace {

/// Holds the sum and the difference of any sums of up to 2^62 64-bit numbers. If terms have both
/// signs, clamp only the final result: with clamping on the way it would depend on their order.
__extension__ using WideInteger = __int128;

/// The number, or the nearest one that fits in 64 bits.
inline std::int64_t bounded(WideInteger number) {
  return static_cast<std::int64_t>(std::clamp<WideInteger>(
      number, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()));
}

/// The sum, or the nearest number that fits in 64 bits.
inline std::int64_t bounded_sum(std::int64_t one, std::int64_t two) {
  return bounded(WideInteger{one} + two);
}

inline void add_bounded(std::int64_t& sum, std::int64_t more) { sum = bounded_sum(sum, more); }

// A result that does not fit is the largest number.

inline std::uint64_t saturating_product(std::uint64_t one, std::uint64_t two) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(one, two, &product) ? std::numeric_limits<std::uint64_t>::max()
                                                    : product;
}

inline std::uint64_t saturating_sum(std::uint64_t one, std::uint64_t two) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(one, two, &sum) ? std::numeric_limits<std::uint64_t>::max() : sum;
}

}  // namespace tbtrace
