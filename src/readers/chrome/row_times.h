// When a row of a Chrome trace was, from the decimal texts of its fields.
// Pure functions. What is not a number, or too far away, gives false and no time.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/decimal.h"
#include "trace/times.h"

namespace tbtrace::readers {

/// Nanoseconds from microseconds. The text must be followed by 8 readable bytes.
inline bool time_ns(std::string_view microseconds, std::int64_t& ns) {
  return parse_padded_microseconds(microseconds, ns) && ns > -kFarthestNs && ns < kFarthestNs;
}

struct RangeTimes {
  std::int64_t start_ns = 0;
  std::int64_t duration_ns = 0;
  bool is_negative = false;  ///< the file says less than 0
};

/// False if the end is too far away.
inline bool range_times(std::int64_t start_ns, std::int64_t duration_ns, RangeTimes& times) {
  times.is_negative = duration_ns < 0;
  times.start_ns = start_ns;
  times.duration_ns = times.is_negative ? 0 : duration_ns;
  return times.duration_ns < kFarthestNs - start_ns;
}

}  // namespace tbtrace::readers
