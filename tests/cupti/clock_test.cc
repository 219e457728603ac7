#include "cupti/clock.h"

#include <cmath>
#include <cstdlib>

#include <gtest/gtest.h>

#include "recorder/log/ticks.h"

namespace tbtrace::cupti {
namespace {

TEST(CuptiClock, GivesTheTicksBackThatItWasMadeOf) {
  clock_ns();
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t before = recorder::ticks();
    const std::uint64_t ns = clock_ns();
    const std::uint64_t after = recorder::ticks();
    // A nanosecond is a few ticks.
    EXPECT_GE(ticks_of(ns) + 8, before);
    EXPECT_LE(ticks_of(ns), after + 8);
  }
}

TEST(CuptiClock, RunsAsTheMachinesDoes) {
  clock_ns();  // measures itself
  const recorder::ClockSample first = recorder::sample_clocks();
  const std::uint64_t first_ns = clock_ns();
  recorder::ClockSample last = first;
  while (last.steady_ns - first.steady_ns < 20'000'000) last = recorder::sample_clocks();
  const auto took = static_cast<double>(clock_ns() - first_ns);
  const auto truly = static_cast<double>(recorder::sample_clocks().steady_ns - first.steady_ns);
  EXPECT_NEAR(took / truly, 1.0, 0.01);
}

TEST(CuptiClock, TimesBeforeTheFirstTickAreTheFirst) {
  EXPECT_EQ(ticks_of(0), 0U);
  EXPECT_EQ(ticks_of(1), 0U);
}

}  // namespace
}  // namespace tbtrace::cupti
