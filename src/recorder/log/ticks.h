// The clock of recordings: the processor's counter where it can be trusted, the system's otherwise.
// Values only. Any thread. Reading it cannot fail.
// Ticks are counted from the process's first look at the clock. Records hold 56 bits of them, which
// begin anew after 278 days at 3 GHz; nearest_ticks() gives the rest back.
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

/// Whether the processor's counter may be the clock: the processor must say that it runs at one
/// rate, and the kernel, which compares the cores' counters and watches them, must use it itself.
/// `clocksource` is the file that says what the kernel uses. Where it cannot be read, nobody knows.
bool is_counter_trusted(bool is_invariant, const char* clocksource);

/// ticks() if the counter is used.
[[gnu::always_inline]] inline std::uint64_t counter_ticks() {
#if defined(__x86_64__)
  return __rdtsc() - kOrigin.counter;
#else
  return 0;
#endif
}
}  // namespace ticks_detail

[[gnu::always_inline]] inline std::uint64_t ticks() {
  using namespace ticks_detail;
  if (kOrigin.use_counter) [[likely]]
    return counter_ticks();
  return system_ns() - kOrigin.counter;
}

/// The instant with these low bits that is nearest to `near`. Correct if the two are less than 2^55
/// ticks apart, which is 139 days at 3 GHz.
inline std::uint64_t nearest_ticks(std::uint64_t low_bits, std::uint64_t near) {
  constexpr int kUpper = 64 - kTickBits;
  const auto difference = static_cast<std::int64_t>((low_bits - near) << kUpper) >> kUpper;
  return near + static_cast<std::uint64_t>(difference);
}

/// The same instant on three clocks.
struct ClockSample {
  std::uint64_t ticks = 0;
  std::int64_t steady_ns = 0;  ///< CLOCK_MONOTONIC_RAW: no jumps, no corrections
  std::int64_t unix_ns = 0;    ///< CLOCK_REALTIME
};

/// The best of several samples: all clocks were read within a few tens of nanoseconds.
ClockSample sample_clocks();

/// The process's first one.
const ClockSample& first_clock_sample();

/// Ticks as nanoseconds since 1970, from the samples at both ends of a window.
/// The time of day may run faster or slower than the steady clock while it is corrected, by 500 ppm
/// at most (adjtimex(2)). Up to twice as much is taken for that: the window then runs evenly from
/// one sample's time of day to the other's, so that long windows of different machines stay
/// aligned. A larger difference is a step of the time of day. It does not show: the window begins
/// at the time of day of its start and runs at the steady clock's rate.
class TickScale {
 public:
  /// `first` is the first sample of the process that was recorded: the rate is that over the
  /// longest time there is.
  TickScale(const ClockSample& start, const ClockSample& end,
            const ClockSample& first = first_clock_sample());

  std::int64_t unix_ns(std::uint64_t ticks) const;

 private:
  ClockSample start_;
  long double ns_per_tick_;
};

}  // namespace tbtrace::recorder
