// When a row of a Chrome trace was, from the decimal texts of its fields.
// Pure functions. What is not a number, or too far away, gives nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/decimal.h"

namespace tbtrace::readers {

/// Times are nearer to 0 than this, so that differences of two of them do not overflow.
inline constexpr std::int64_t kFarthestNs = std::int64_t{1} << 62;

/// Nanoseconds from microseconds. The text must be followed by 8 readable bytes.
inline std::optional<std::int64_t> time_ns(std::string_view microseconds) {
  const std::optional<std::int64_t> time = parse_padded_microseconds(microseconds);
  return time && *time > -kFarthestNs && *time < kFarthestNs ? time : std::nullopt;
}

struct RangeTimes {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  bool is_negative = false;  ///< the file says less than 0
};

/// Nothing if the end is too far away.
inline std::optional<RangeTimes> range_times(std::int64_t start_ns, std::int64_t duration_ns) {
  const bool is_negative = duration_ns < 0;
  if (is_negative) duration_ns = 0;
  if (duration_ns >= kFarthestNs - start_ns) return std::nullopt;
  return RangeTimes{start_ns, duration_ns, is_negative};
}

}  // namespace tbtrace::readers
