#include "cupti/window_activity.h"

#include <cstring>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cupti/clock.h"
#include "cupti/fake_gpu.h"
#include "recorder/log/ticks.h"

namespace tbtrace::cupti {
namespace {

using recorder::DeviceTrace;

class CuptiWindowRows : public testing::Test {
 protected:
  static constexpr std::uint32_t kLaunch = 211;    // cudaLaunchKernel
  static constexpr std::uint32_t kGetDevice = 15;  // a query

  KernelRecord kernel(std::uint64_t start, std::uint64_t end, std::uint32_t correlation) const {
    KernelRecord record = {};
    record.kind = ActivityKind::kernel;
    record.start = start;
    record.end = end;
    record.correlation = correlation;
    record.name = "kernel";
    return record;
  }
  ApiRecord call(std::uint64_t start, std::uint32_t correlation,
                 std::uint32_t number = kLaunch) const {
    ApiRecord record = {};
    record.kind = ActivityKind::runtime;
    record.number = number;
    record.start = start;
    record.end = start + 10;
    record.thread = 1;
    record.correlation = correlation;
    return record;
  }

  FakeGpu gpu_;
  Calls calls_{gpu_.library()};
  const std::uint64_t now_ = clock_ns() + 1'000'000;
  WindowActivity rows_{calls_, ticks_of(now_)};
};

TEST_F(CuptiWindowRows, APauseLeavesOutWhatBeginsInIt) {
  const auto later = [] {
    const std::uint64_t now = clock_ns();
    while (clock_ns() < now + 10'000) {
    }
    return clock_ns();
  };
  WindowActivity rows(calls_, recorder::ticks());
  const std::uint64_t before = later();
  later();
  rows.pause();
  const std::uint64_t within = later();
  later();
  rows.resume();
  const std::uint64_t after = later();
  rows.add(call(before, 1));
  rows.add(kernel(before, before + 1, 1));
  rows.add(kernel(within, within + 1, 1));  // launched before the pause
  rows.add(call(within, 2));
  rows.add(kernel(within, within + 1, 2));
  rows.add(kernel(after, after + 1, 2));  // was still to be done when the pause ended
  rows.add(call(after, 3));
  rows.add(kernel(after, after + 1, 3));
  rows.pause();
  const std::uint64_t at_the_end = later();
  rows.add(call(at_the_end, 4));
  rows.add(kernel(at_the_end, at_the_end + 1, 4));
  rows.end(ticks_of(later()));
  const DeviceTrace trace = rows.take();
  ASSERT_EQ(trace.calls.size(), 2U);
  EXPECT_EQ(trace.calls[0].correlation, 1U);
  EXPECT_EQ(trace.calls[1].correlation, 3U);
  std::vector<std::uint32_t> activities;
  for (std::size_t row = 0; row < trace.activities.size(); ++row) {
    activities.push_back(trace.activities.correlation(row));
  }
  EXPECT_THAT(activities, testing::UnorderedElementsAre(1, 1, 2, 3));
}

TEST_F(CuptiWindowRows, WorkOfTheWindowIsKeptWhenItWasBegunInIt) {
  rows_.end(ticks_of(now_ + 1000));
  rows_.add(call(now_ - 100, 1));                  // before the window,
  rows_.add(kernel(now_ - 50, now_ + 50, 1));      // and so is its activity
  rows_.add(kernel(now_ + 60, now_ + 70, 1));      // was still to be done when it began
  rows_.add(call(now_ + 900, 2));                  // begun within,
  rows_.add(kernel(now_ + 2000, now_ + 2100, 2));  // done afterwards
  rows_.add(kernel(now_ + 2200, now_ + 2300, 3));  // begun and done afterwards
  rows_.add(call(now_ + 1500, 3));
  const DeviceTrace trace = rows_.take();
  ASSERT_EQ(trace.calls.size(), 1U);
  EXPECT_EQ(trace.calls[0].correlation, 2U);
  ASSERT_EQ(trace.activities.size(), 2U);
  EXPECT_EQ(trace.activities[0].correlation, 1U);
  EXPECT_EQ(trace.activities[0].start_ticks, ticks_of(now_ + 60));
  EXPECT_EQ(trace.activities[1].correlation, 2U);
}

TEST_F(CuptiWindowRows, WorkThatComesBeforeItsCallIsKeptToo) {
  rows_.end(ticks_of(now_ + 1000));
  rows_.add(kernel(now_ + 2000, now_ + 2100, 2));
  rows_.add(call(now_ + 900, 2));
  EXPECT_EQ(rows_.take().activities.size(), 1U);
}

TEST_F(CuptiWindowRows, RecordsWithoutTimesAreCounted) {
  rows_.add(kernel(0, now_ + 10, 1));
  rows_.add(kernel(now_ + 10, 0, 2));
  rows_.add(call(0, 3));
  rows_.add(kernel(now_ + 30, now_ + 20, 4));  // ends before it starts
  const DeviceTrace trace = rows_.take();
  EXPECT_EQ(trace.untimed, 3U);
  ASSERT_EQ(trace.activities.size(), 1U);
  EXPECT_EQ(trace.activities[0].start_ticks, trace.activities[0].end_ticks);
}

TEST_F(CuptiWindowRows, QueriesAndUnknownCallsAreLeftOut) {
  rows_.add(call(now_ + 1, 1, kGetDevice));
  rows_.add(call(now_ + 1, 2, 100'000));
  ApiRecord driver = call(now_ + 1, 3, 307);
  driver.kind = ActivityKind::driver;
  rows_.add(driver);
  const DeviceTrace trace = rows_.take();
  ASSERT_EQ(trace.calls.size(), 1U);
  EXPECT_EQ(trace.names[trace.functions[trace.calls[0].function].name], "cuLaunchKernel");
  EXPECT_EQ(trace.functions[trace.calls[0].function].library, recorder::ApiLibrary::driver);
}

TEST_F(CuptiWindowRows, LaunchesThatAreAlikeAreKeptOnce) {
  std::string name = "gemm";
  for (std::uint32_t i = 0; i < 4000; ++i) {
    KernelRecord record = kernel(now_ + i, now_ + i + 1, i);
    record.name = name.c_str();
    record.grid[0] = static_cast<std::int32_t>(i % 100);
    record.registers_per_thread = 32;
    rows_.add(record);
  }
  // The same place holds another name now, as after a library was unloaded.
  std::memcpy(name.data(), "conv", 4);
  KernelRecord other = kernel(now_ + 1, now_ + 2, 5000);
  other.name = name.c_str();
  other.registers_per_thread = 32;
  rows_.add(other);
  KernelRecord nameless = kernel(now_ + 1, now_ + 2, 5001);
  nameless.name = nullptr;
  rows_.add(nameless);
  const DeviceTrace trace = rows_.take();
  ASSERT_EQ(trace.launches.size(), 102U);
  for (std::uint32_t i = 0; i < 4000; ++i) {
    const recorder::KernelLaunch& launch = trace.launches[trace.activities[i].launch];
    EXPECT_EQ(trace.names[launch.name], "gemm");
    EXPECT_EQ(launch.grid[0], static_cast<std::int32_t>(i % 100));
  }
  EXPECT_EQ(trace.names[trace.launches[trace.activities[4000].launch].name], "conv");
  EXPECT_EQ(trace.names[trace.launches[trace.activities[4001].launch].name], "");
}

TEST_F(CuptiWindowRows, RangesOfNvtxHaveBothEnds) {
  MarkerRecord record = {};
  record.kind = ActivityKind::marker;
  record.flags = kMarkerStart;
  record.timestamp = now_ + 10;
  record.id = 1;
  record.object[1] = 77;
  record.name = "load";
  record.domain = "data";
  rows_.add(record);
  record.id = 2;
  record.name = "never ends";
  rows_.add(record);
  record.flags = kMarkerEnd;
  record.id = 1;
  record.name = nullptr;
  record.timestamp = now_ + 30;
  rows_.add(record);
  record.id = 99;  // began before anybody looked
  rows_.add(record);
  const DeviceTrace trace = rows_.take();
  ASSERT_EQ(trace.markers.size(), 1U);
  EXPECT_EQ(trace.names[trace.markers[0].name], "load");
  EXPECT_EQ(trace.names[trace.markers[0].domain], "data");
  EXPECT_EQ(trace.markers[0].thread, 77U);
  EXPECT_EQ(trace.markers[0].start_ticks, ticks_of(now_ + 10));
  EXPECT_EQ(trace.markers[0].end_ticks, ticks_of(now_ + 30));
}

}  // namespace
}  // namespace tbtrace::cupti
