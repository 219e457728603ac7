// Converts doubles to 64-bit integers, clamping those outside the range.
// Any thread. NaN becomes 0.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace tbtrace {

/// The integer part, clamped to 64 bits.
inline std::int64_t truncated_integer(long double number) {
  constexpr long double kBeyond = 9223372036854775808.0L;  // 2^63
  if (std::isnan(number)) return 0;
  if (number >= kBeyond) return std::numeric_limits<std::int64_t>::max();
  if (number < -kBeyond) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(number);
}

/// The nearest 64-bit number; halves are rounded away from 0, as llround() does.
inline std::int64_t nearest_integer(long double number) {
  return truncated_integer(std::round(number));
}

}  // namespace tbtrace
