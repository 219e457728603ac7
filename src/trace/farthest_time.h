#pragma once

#include <cstdint>

namespace tbtrace {

/// Times are nearer to 0 than this, so that differences of two of them do not overflow.
inline constexpr std::int64_t kFarthestNs = std::int64_t{1} << 62;

}  // namespace tbtrace
