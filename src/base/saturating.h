// Products and sums of counts from files, where any number may occur. Any thread.
// A result that does not fit in 64 bits is the largest number.
#pragma once

#include <cstdint>
#include <limits>

namespace tbtrace {

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
