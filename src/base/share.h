// Parts of a whole. Any thread.
#pragma once

#include <cstdint>

namespace tbtrace {

/// 0 to 1 for a part of a whole that is not negative; 0 of an empty whole.
inline double share(std::int64_t part, std::int64_t whole) {
  return whole <= 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace tbtrace
