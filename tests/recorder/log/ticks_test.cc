#include "recorder/log/ticks.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace tbtrace::recorder {
namespace {

constexpr std::int64_t kNoon = 1'790'000'000'000'000'000;
constexpr std::int64_t kSecond = 1'000'000'000;

// Samples of tests begin at tick 0, which is before all that the process itself has sampled.
constexpr ClockSample kStart = {.ticks = 0, .steady_ns = 77, .unix_ns = kNoon};

/// `ticks` after the start, when so much time went by on each of the clocks.
ClockSample later(std::uint64_t ticks, std::int64_t steady_ns, std::int64_t unix_ns) {
  return {.ticks = ticks,
          .steady_ns = kStart.steady_ns + steady_ns,
          .unix_ns = kStart.unix_ns + unix_ns};
}

TEST(TickScale, MapsBothSamplesToTheirTimes) {
  for (const std::uint64_t ticks : {1'000'000'000U, 3'000'000'000U, 123'456'789U, 1U}) {
    const TickScale scale(kStart, later(ticks, kSecond, kSecond));
    EXPECT_EQ(scale.unix_ns(0), kNoon);
    EXPECT_EQ(scale.unix_ns(ticks), kNoon + kSecond) << ticks;
  }
}

TEST(TickScale, RunsEvenlyBetweenAndBeyondTheSamples) {
  const TickScale scale(kStart, later(2'500'000'000, kSecond, kSecond));
  EXPECT_EQ(scale.unix_ns(1'250'000'000), kNoon + kSecond / 2);
  EXPECT_EQ(scale.unix_ns(25'000'000'000), kNoon + 10 * kSecond);
  EXPECT_EQ(scale.unix_ns(5), kNoon + 2);
  EXPECT_EQ(scale.unix_ns(std::uint64_t{0} - 5), kNoon - 2);
}

TEST(TickScale, DoesNotShowAStepOfTheTimeOfDay) {
  for (const std::int64_t step : {-3600 * kSecond, -1 * kSecond, 3600 * kSecond}) {
    const TickScale scale(kStart, later(3'000'000'000, kSecond, kSecond + step));
    EXPECT_EQ(scale.unix_ns(0), kNoon);
    EXPECT_EQ(scale.unix_ns(1'500'000'000), kNoon + kSecond / 2) << step;
    EXPECT_EQ(scale.unix_ns(3'000'000'000), kNoon + kSecond) << step;
  }
}

TEST(TickScale, KeepsNanosecondsOverAllTicksThatThereAre) {
  constexpr std::uint64_t kMost = (std::uint64_t{1} << kTickBits) - 1;
  constexpr std::int64_t kLong = 24'019'198'012'642'645;  // at 3 GHz: nine months
  const TickScale scale(kStart, later(kMost, kLong, kLong));
  EXPECT_EQ(scale.unix_ns(kMost), kNoon + kLong);
  EXPECT_EQ(scale.unix_ns(kMost - 3), kNoon + kLong - 1);
}

TEST(TickScale, TwoSamplesOfOneInstantMakeNoDivisionByZero) {
  const TickScale scale(kStart, kStart);
  EXPECT_EQ(scale.unix_ns(0), kNoon);
  EXPECT_EQ(scale.unix_ns(10), kNoon + 10);
}

TEST(TickScale, OfRealSamplesBeginsAtTheTimeOfDay) {
  const ClockSample start = sample_clocks();
  const ClockSample end = sample_clocks();
  ASSERT_GT(end.ticks, start.ticks);
  EXPECT_GE(end.steady_ns, start.steady_ns);
  EXPECT_GT(start.unix_ns, 1'600'000'000 * kSecond);
  const TickScale scale(start, end);
  EXPECT_EQ(scale.unix_ns(start.ticks), start.unix_ns);
  EXPECT_GT(scale.unix_ns(end.ticks), start.unix_ns);
}

TEST(Ticks, NeverGoBackwardsOnAThread) {
  constexpr int kLooks = 200'000;
  std::vector<std::size_t> steps_back(4);
  {
    std::vector<std::jthread> threads;
    threads.reserve(steps_back.size());
    for (std::size_t& count : steps_back) {
      threads.emplace_back([&count] {
        std::uint64_t last = 0;
        for (int look = 0; look < kLooks; ++look) {
          const std::uint64_t now = ticks();
          if (now < last) ++count;
          last = now;
        }
      });
    }
  }
  EXPECT_EQ(steps_back, std::vector<std::size_t>(4));
}

TEST(Ticks, ASampleLiesBetweenTheLooksAroundIt) {
  const std::uint64_t before = ticks();
  const ClockSample sample = sample_clocks();
  const std::uint64_t after = ticks();
  EXPECT_LE(before, sample.ticks);
  EXPECT_LE(sample.ticks, after);
  EXPECT_EQ(after >> kTickBits, 0U);
}

// A clock of another rate, as it is while NTP corrects it: 3 ms in a minute.
TEST(TickScale, FollowsACorrectedTimeOfDayToTheEnd) {
  for (const std::int64_t ppm : {-500, -50, 0, 50, 500}) {
    const std::int64_t minute = 60 * kSecond;
    const std::int64_t more = minute / 1'000'000 * ppm;
    const TickScale scale(kStart, later(180'000'000'000, minute, minute + more));
    EXPECT_EQ(scale.unix_ns(0), kNoon);
    EXPECT_EQ(scale.unix_ns(90'000'000'000), kNoon + (minute + more) / 2) << ppm;
    EXPECT_EQ(scale.unix_ns(180'000'000'000), kNoon + minute + more) << ppm;
  }
}

TEST(TickScale, ASmallStepInAShortWindowIsAStepToo) {
  constexpr std::int64_t kMillisecond = 1'000'000;
  for (const std::int64_t step : {-2 * kMillisecond, std::int64_t{-1500}, std::int64_t{1500}}) {
    const TickScale scale(kStart, later(3'000'000, kMillisecond, kMillisecond + step));
    EXPECT_EQ(scale.unix_ns(3'000'000), kNoon + kMillisecond) << step;
  }
}

TEST(Ticks, TheNearestInstantWithTheSameLowBits) {
  constexpr std::uint64_t kRound = std::uint64_t{1} << kTickBits;
  for (const std::uint64_t near :
       {std::uint64_t{0}, std::uint64_t{1000}, kRound - 1, kRound, 7 * kRound + 12345}) {
    for (const std::uint64_t after : {std::uint64_t{0}, std::uint64_t{1}, kRound / 2 - 1}) {
      EXPECT_EQ(nearest_ticks((near + after) % kRound, near), near + after) << near;
      EXPECT_EQ(nearest_ticks((near - after) % kRound, near), near - after) << near;
    }
  }
}

TEST(Ticks, TheCounterIsTrustedWhereTheKernelUsesIt) {
  using ticks_detail::is_counter_trusted;
  const std::string file = testing::TempDir() + "clocksource" + std::to_string(::getpid());
  for (const auto& [name, is_trusted] :
       {std::pair("tsc\n", true), std::pair("tsc", true), std::pair("hpet\n", false),
        std::pair("acpi_pm\n", false), std::pair("kvm-clock\n", false), std::pair("tscx\n", false),
        std::pair("", false)}) {
    std::ofstream(file, std::ios::trunc) << name;
    EXPECT_EQ(is_counter_trusted(true, file.c_str()), is_trusted) << name;
    EXPECT_FALSE(is_counter_trusted(false, file.c_str())) << name;
  }
  std::remove(file.c_str());
  EXPECT_FALSE(is_counter_trusted(true, file.c_str())) << "there is no such file";
}

}  // namespace
}  // namespace tbtrace::recorder
