#include "recorder/schedule/cycle.h"

#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "recorder/schedule/logged_target.h"

namespace tbtrace::recorder {
namespace {

Schedule plan(std::string letters) {
  return [letters = std::move(letters)](std::int64_t step) {
    const auto at = std::min(static_cast<std::size_t>(step), letters.size() - 1);
    return static_cast<ProfilerAction>(std::string("NWRSD").find(letters[at]));
  };
}

TEST(Cycle, WithoutAScheduleAllIsRecorded) {
  LoggedTarget target;
  Cycle cycle({}, false, target);
  EXPECT_TRUE(cycle.start().ok());
  EXPECT_TRUE(cycle.step().ok());
  EXPECT_EQ(target.taken(), "n p s");
  EXPECT_FALSE(cycle.handed_over());
  EXPECT_TRUE(cycle.stop().ok());
  EXPECT_EQ(target.taken(), "x r1");
  EXPECT_TRUE(cycle.handed_over());
}

TEST(Cycle, ASecondRunTellsOnceThatEventsAreCleared) {
  LoggedTarget target;
  Cycle cycle({}, false, target);
  for (int run = 0; run < 3; ++run) {
    EXPECT_TRUE(cycle.start().ok());
    EXPECT_TRUE(cycle.stop().ok());
    const std::string log = target.taken();
    EXPECT_EQ(log.find("clears events") != std::string::npos, run == 1) << log;
    EXPECT_TRUE(log.ends_with("n p s x r0")) << log;
  }
}

TEST(Cycle, NonsenseOfAScheduleChangesNothing) {
  LoggedTarget target;
  Cycle cycle(
      [](std::int64_t step) {
        if (step == 1) throw std::runtime_error("no such step");
        return step == 2 ? static_cast<ProfilerAction>(77) : ProfilerAction::record;
      },
      false, target);
  EXPECT_TRUE(cycle.start().ok());
  EXPECT_THROW((void)cycle.step(), std::runtime_error);
  EXPECT_EQ(cycle.step_num(), 0);
  EXPECT_EQ(target.taken(), "n p s o0 c0");
  EXPECT_TRUE(cycle.stop().ok());
  EXPECT_EQ(target.taken(), "x r0");

  Cycle odd([](std::int64_t) { return static_cast<ProfilerAction>(77); }, false, target);
  EXPECT_EQ(odd.made().code(), StatusCode::invalid_argument);
  EXPECT_EQ(odd.made().message(), "the schedule returned 77, which is not a ProfilerAction");
}

TEST(Cycle, AStopWithinAHandoverBeginsNoOtherWindow) {
  for (const char* const letters : {"SS", "SW", "SN"}) {
    LoggedTarget target;
    Cycle cycle(plan(letters), false, target);
    target.on_ready = [&] { cycle.stop_after_window(); };
    EXPECT_TRUE(cycle.start().ok());
    target.taken();
    EXPECT_TRUE(cycle.step().ok());
    EXPECT_EQ(target.taken(), "c0 x r1") << letters;
    EXPECT_FALSE(cycle.running());
    EXPECT_EQ(cycle.step_num(), 1);
    target.on_ready = nullptr;
    EXPECT_TRUE(cycle.start().ok());
    EXPECT_TRUE(target.taken().ends_with("o1")) << "and may be started again";
    EXPECT_TRUE(cycle.running());
  }
}

/// Profilers do not pass on such a step; torch's class has it, and its answers are the reference.
TEST(Cycle, AStepAfterStopOpensTheNext) {
  LoggedTarget target;
  Cycle cycle(plan("R"), false, target);
  EXPECT_TRUE(cycle.start().ok());
  EXPECT_TRUE(cycle.stop().ok());
  target.taken();
  EXPECT_TRUE(cycle.step().ok());
  EXPECT_EQ(target.taken(), "o1");
}

TEST(Cycle, ADeviceThatStopsEndsTheCycle) {
  LoggedTarget target;
  Cycle cycle(plan("WRRSW"), false, target);
  EXPECT_TRUE(cycle.start().ok());
  EXPECT_TRUE(cycle.step().ok());
  target.taken();
  target.device_stops = true;
  EXPECT_TRUE(cycle.step().ok());
  EXPECT_TRUE(target.taken().ends_with("x r2 o2"));
  target.device_stops = false;
  EXPECT_TRUE(cycle.step().ok());
  EXPECT_EQ(target.taken(), "c2 o3");
}

}  // namespace
}  // namespace tbtrace::recorder
