// The clock of recordings: the processor's counter where it can be trusted, the system's otherwise.
// Values only. Any thread. Reading it cannot fail.
// Ticks are counted from the process's first look at the clock, so that 56 bits last two years.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace tbtrace::recorder {

inline constexpr int kTickBits = 56;

namespace ticks_detail {
struct Origin {
  std::uint64_t counter;
  bool use_counter;  ///< it runs at one rate on all cores, whatever they do
};
extern const Origin kOrigin;
std::uint64_t system_ns();
}  // namespace ticks_detail

inline std::uint64_t ticks() {
  using namespace ticks_detail;
#if defined(__x86_64__)
  if (kOrigin.use_counter) [[likely]]
    return __rdtsc() - kOrigin.counter;
#endif
  return system_ns() - kOrigin.counter;
}

/// The same instant on three clocks.
struct ClockSample {
  std::uint64_t ticks = 0;
  std::int64_t steady_ns = 0;  ///< CLOCK_MONOTONIC_RAW: no jumps, no corrections
  std::int64_t unix_ns = 0;    ///< CLOCK_REALTIME
};

/// The tightest of several looks, a few tens of nanoseconds wide.
ClockSample sample_clocks();

/// Ticks as nanoseconds since 1970: the rate of the steady clock, begun at the time of day. A
/// step of the time of day during a recording does not show.
class TickScale {
 public:
  /// Samples of the start and the end of what is to be scaled.
  TickScale(const ClockSample& start, const ClockSample& end);

  std::int64_t unix_ns(std::uint64_t ticks) const;

 private:
  ClockSample start_;
  long double ns_per_tick_;
};

}  // namespace tbtrace::recorder
