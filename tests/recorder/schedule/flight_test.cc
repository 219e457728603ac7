#include "recorder/schedule/flight.h"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "recorder/schedule/cycle.h"
#include "recorder/schedule/logged_target.h"

namespace tbtrace::recorder {
namespace {

using std::chrono::milliseconds;
using Clock = FlightRecorder::Clock;

constexpr std::size_t kSmall = 1000;  // bytes of a window

/// Steps of a program whose clock a test sets.
class Steps {
 public:
  explicit Steps(const FlightOptions& options) : recorder(options) { recorder.begin_window(now); }

  WindowAfterStep take(milliseconds length, std::size_t bytes = kSmall, bool is_asked = false) {
    now += length;
    const WindowAfterStep after = recorder.end_step(now, bytes, is_asked);
    if (after != WindowAfterStep::goes_on) recorder.begin_window(now);
    return after;
  }

  Clock::time_point now = Clock::time_point(std::chrono::hours(1));
  FlightRecorder recorder;
};

TEST(FlightRecorder, BeginsANewWindowWhenTheOldOneIsLongEnough) {
  Steps steps({.keep_seconds = 1});
  std::vector<int> renewed;
  for (int step = 1; step <= 25; ++step) {
    if (steps.take(milliseconds(100)) == WindowAfterStep::renewed) renewed.push_back(step);
  }
  EXPECT_EQ(renewed, (std::vector{10, 20}));
}

TEST(FlightRecorder, BeginsANewWindowWhenTheOldOneHasHalfOfTheBytes) {
  Steps steps({.keep_bytes = 1 << 20});
  EXPECT_EQ(steps.take(milliseconds(100), (1 << 19) - 1), WindowAfterStep::goes_on);
  EXPECT_EQ(steps.take(milliseconds(100), 1 << 19), WindowAfterStep::renewed);
}

TEST(FlightRecorder, HandsOverWhenItIsAsked) {
  Steps steps({.keep_seconds = 1});
  EXPECT_EQ(steps.take(milliseconds(10), kSmall, true), WindowAfterStep::handed_over);
  EXPECT_EQ(steps.recorder.reason(), R"({"reason": "asked"})");
  EXPECT_EQ(steps.take(milliseconds(10)), WindowAfterStep::goes_on);
}

TEST(FlightRecorder, HandsOverASlowStepOnceInATime) {
  Steps steps({.keep_seconds = 60, .on_slow_step = 2});
  // The first steps of a program are slow: nothing is known of the others yet.
  EXPECT_EQ(steps.take(milliseconds(5000)), WindowAfterStep::goes_on);
  for (int step = 0; step < 20; ++step) {
    EXPECT_EQ(steps.take(milliseconds(100)), WindowAfterStep::goes_on);
  }
  EXPECT_EQ(steps.take(milliseconds(200)), WindowAfterStep::goes_on) << "twice is not more";
  EXPECT_EQ(steps.take(milliseconds(201)), WindowAfterStep::handed_over);
  EXPECT_EQ(steps.recorder.reason(),
            R"({"reason": "slow_step", "step_ns": 201000000, "median_ns": 100000000})");
  EXPECT_EQ(steps.take(milliseconds(900)), WindowAfterStep::goes_on) << "too soon";
  steps.take(milliseconds(59'999 - 900));
  EXPECT_EQ(steps.take(milliseconds(300)), WindowAfterStep::handed_over);
}

TEST(FlightRecorder, ComparesAStepWithTheLastOnes) {
  Steps steps({.keep_seconds = 1e6, .on_slow_step = 1.5});
  for (int step = 0; step < 200; ++step) steps.take(milliseconds(1000));
  // The program goes over to shorter steps, and half of the last 101 are such.
  for (int step = 0; step < 51; ++step) {
    EXPECT_EQ(steps.take(milliseconds(100)), WindowAfterStep::goes_on);
  }
  EXPECT_EQ(steps.take(milliseconds(200)), WindowAfterStep::handed_over);
}

/// Of a flight recorder that is asked after some of its steps.
class FlightTarget final : public CycleTarget {
 public:
  void make() override { log.make(); }
  void prepare() override { log.prepare(); }
  void start() override { log.start(); }
  void stop() override { log.stop(); }
  void ready(std::int64_t step) override { log.ready(step); }
  void open_step(std::int64_t step) override { log.open_step(step); }
  void close_step() override { log.close_step(); }
  void warn(std::string_view sentence) override { log.warn(sentence); }
  bool device_stopped() override { return false; }
  WindowAfterStep after_step() override { return after; }
  void renew() override { log.renew(); }
  void drop() override { log.drop(); }

  LoggedTarget log;
  WindowAfterStep after = WindowAfterStep::goes_on;
};

TEST(Cycle, BeginsANewWindowBetweenSteps) {
  FlightTarget target;
  Cycle cycle([](std::int64_t) { return ProfilerAction::record; }, false, target);
  EXPECT_TRUE(cycle.start().ok());
  EXPECT_TRUE(cycle.step().ok());
  EXPECT_EQ(target.log.taken(), "n p s o0 c0 o1");
  target.after = WindowAfterStep::renewed;
  EXPECT_TRUE(cycle.step().ok());
  EXPECT_EQ(target.log.taken(), "c1 e o2");
  target.after = WindowAfterStep::handed_over;
  EXPECT_TRUE(cycle.step().ok());
  EXPECT_EQ(target.log.taken(), "c2 e r2 o3");
  target.log.on_ready = [&] { cycle.stop_after_window(); };
  EXPECT_TRUE(cycle.step().ok());
  EXPECT_EQ(target.log.taken(), "c3 e r3 d");
  EXPECT_FALSE(cycle.running());
}

}  // namespace
}  // namespace tbtrace::recorder
