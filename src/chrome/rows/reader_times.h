// Times as seen by readers that use doubles: the file's decimal microseconds rounded to the nearest
// double, and a range's end as the rounded sum of its start and its duration.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tbtrace::chrome {

/// The double nearest to the microseconds.
inline double read_us(std::int64_t ns) {
  constexpr std::int64_t kExact = std::int64_t{1} << 53;  // doubles hold integers up to here
  if (ns >= -kExact && ns <= kExact) return static_cast<double>(ns) / 1000.0;
  return static_cast<double>(static_cast<long double>(ns) / 1000.0L);
}

inline double read_end_us(std::int64_t start_ns, std::int64_t end_ns) {
  return read_us(start_ns) + read_us(end_ns - start_ns);
}

/// The last end between the start and `end_ns` that is read as at most `limit_us`; the start if
/// even that is read as later.
inline std::int64_t last_end_ns(std::int64_t start_ns, std::int64_t end_ns, double limit_us) {
  if (read_end_us(start_ns, end_ns) <= limit_us) return end_ns;
  std::int64_t above = end_ns;
  std::int64_t step = 1;
  while (above - start_ns > step && read_end_us(start_ns, above - step) > limit_us) {
    above -= step;
    step *= 2;
  }
  std::int64_t fits = std::max(start_ns, above - step);
  while (above - fits > 1) {
    const std::int64_t middle = fits + (above - fits) / 2;
    (read_end_us(start_ns, middle) <= limit_us ? fits : above) = middle;
  }
  return fits;
}

}  // namespace tbtrace::chrome
