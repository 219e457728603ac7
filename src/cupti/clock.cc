#include "cupti/clock.h"

#include <chrono>
#include <cstdint>
#include <thread>

#include "recorder/log/ticks.h"

namespace tbtrace::cupti {

namespace {

__extension__ using Wide = __int128;

constexpr int kScaleBits = 60;  // rounding is below a tick in a year

struct Scale {
  std::uint64_t first_ticks;
  std::uint64_t first_ns;
  std::uint64_t ns_per_tick;  // in units of 2^-32
  Wide ticks_per_ns;          // in units of 2^-60
};

Scale measure() {
  const recorder::ClockSample first = recorder::sample_clocks();
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const recorder::ClockSample last = recorder::sample_clocks();
  const double rate = static_cast<double>(last.steady_ns - first.steady_ns) /
                      static_cast<double>(last.ticks - first.ticks);
  const auto ns_per_tick = static_cast<std::uint64_t>(rate * 4294967296.0);
  return {first.ticks, static_cast<std::uint64_t>(first.steady_ns), ns_per_tick,
          (Wide{1} << (32 + kScaleBits)) / ns_per_tick};
}

const Scale& scale() {
  static const Scale scale = measure();
  return scale;
}

}  // namespace

std::uint64_t clock_ns() {
  const Scale& by = scale();
  const std::uint64_t since = recorder::ticks() - by.first_ticks;
  return by.first_ns + static_cast<std::uint64_t>(Wide{since} * by.ns_per_tick >> 32);
}

std::uint64_t ticks_of(std::uint64_t clock_ns) {
  const Scale& by = scale();
  const auto since = static_cast<std::int64_t>(clock_ns - by.first_ns);
  const Wide ticks = (Wide{since} * by.ticks_per_ns + (Wide{1} << (kScaleBits - 1))) >> kScaleBits;
  const Wide at = ticks + by.first_ticks;
  return at < 0 ? 0 : static_cast<std::uint64_t>(at);
}

}  // namespace tbtrace::cupti
