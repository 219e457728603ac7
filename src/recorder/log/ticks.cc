#include "recorder/log/ticks.h"

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace tbtrace::recorder {

namespace {

std::int64_t read_ns(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

#if defined(__x86_64__)
constexpr const char* kClocksource =
    "/sys/devices/system/clocksource/clocksource0/current_clocksource";
#endif

ticks_detail::Origin find_origin() {
#if defined(__x86_64__)
  // CPUID 0x80000007, EDX bit 8: the invariant time stamp counter (Intel SDM 3, 18.17.1).
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  const bool is_invariant = __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & 1U << 8) != 0;
  if (ticks_detail::is_counter_trusted(is_invariant, kClocksource)) return {__rdtsc(), true};
#endif
  return {ticks_detail::system_ns(), false};
}

}  // namespace

namespace ticks_detail {

std::uint64_t system_ns() { return static_cast<std::uint64_t>(read_ns(CLOCK_MONOTONIC_RAW)); }

/// Runs before a program's static objects are made, so it uses the system's calls alone.
bool is_counter_trusted(bool is_invariant, const char* clocksource) {
  if (!is_invariant) return false;
  const int file = ::open(clocksource, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[64];
  const ssize_t size = ::read(file, text, sizeof text);
  ::close(file);
  if (size < 0) return false;
  std::string_view name(text, static_cast<std::size_t>(size));
  name = name.substr(0, name.find('\n'));
  return name == "tsc";
}

const Origin kOrigin = find_origin();

}  // namespace ticks_detail

ClockSample sample_clocks() {
  ClockSample best;
  std::uint64_t best_width = std::numeric_limits<std::uint64_t>::max();
  for (int look = 0; look < 15; ++look) {
    const std::uint64_t before = ticks();
    const std::int64_t steady_ns = read_ns(CLOCK_MONOTONIC_RAW);
    const std::int64_t unix_ns = read_ns(CLOCK_REALTIME);
    const std::uint64_t width = ticks() - before;
    if (width >= best_width) continue;
    best_width = width;
    best = {.ticks = before + width / 2, .steady_ns = steady_ns, .unix_ns = unix_ns};
  }
  return best;
}

const ClockSample& first_clock_sample() {
  static const ClockSample sample = sample_clocks();
  return sample;
}

TickScale::TickScale(const ClockSample& start, const ClockSample& end, const ClockSample& first)
    : start_(start) {
  const ClockSample& from = first.ticks < start.ticks ? first : start;
  if (end.ticks <= from.ticks) {
    ns_per_tick_ = 1.0L;
    return;
  }
  ns_per_tick_ = static_cast<long double>(end.steady_ns - from.steady_ns) /
                 static_cast<long double>(end.ticks - from.ticks);
  const std::int64_t steady_ns = end.steady_ns - start.steady_ns;
  const std::int64_t unix_ns = end.unix_ns - start.unix_ns;
  constexpr std::int64_t kMostCorrected = 1000;  // a thousandth
  if (end.ticks > start.ticks && std::abs(unix_ns - steady_ns) <= steady_ns / kMostCorrected) {
    ns_per_tick_ =
        static_cast<long double>(unix_ns) / static_cast<long double>(end.ticks - start.ticks);
  }
}

std::int64_t TickScale::unix_ns(std::uint64_t ticks) const {
  const auto since = static_cast<long double>(static_cast<std::int64_t>(ticks - start_.ticks));
  return start_.unix_ns + static_cast<std::int64_t>(std::llround(since * ns_per_tick_));
}

}  // namespace tbtrace::recorder
