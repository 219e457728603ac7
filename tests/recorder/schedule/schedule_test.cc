#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/schedule.h>

#include "recorder/process/messages.h"

namespace tbtrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string actions(const Schedule& schedule, std::int64_t steps) {
  std::string letters;
  for (std::int64_t step = 0; step < steps; ++step) {
    letters += "NWRSD"[static_cast<int>(schedule(step))];
  }
  return letters;
}

class ScheduleTest : public testing::Test {
 protected:
  ScheduleTest() {
    before_ = recorder::set_warning_handler(
        [this](std::string_view sentence) { warnings_.emplace_back(sentence); });
  }
  ~ScheduleTest() override { recorder::set_warning_handler(before_); }

  std::vector<std::string> warnings_;
  std::function<void(std::string_view)> before_;
};

TEST_F(ScheduleTest, CyclesFollowTheSkippedSteps) {
  const Schedule two =
      schedule({.skip_first = 2, .wait = 1, .warmup = 1, .active = 2, .repeat = 2});
  EXPECT_EQ(actions(two, 13), "NNNWRSNWRSNNN");
  EXPECT_THAT(warnings_, ElementsAre());
}

TEST_F(ScheduleTest, OneActiveStepIsSavedAtOnce) {
  EXPECT_EQ(actions(schedule({.active = 1}), 3), "SSS");
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("won't be using warmup")));
}

TEST_F(ScheduleTest, TheFirstWaitCanBeSkipped) {
  const Schedule eager =
      schedule({.skip_first = 1, .wait = 2, .warmup = 1, .active = 1, .skip_first_wait = 1});
  EXPECT_EQ(actions(eager, 8), "NWSNNWSN");
}

TEST_F(ScheduleTest, NumbersAtTheEndOfTheRangeAreNoTrouble) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(schedule({.wait = kMost, .warmup = 1, .active = 1})(kMost), ProfilerAction::warmup);
  EXPECT_EQ(schedule({.skip_first = kMost, .warmup = 1, .active = 1})(kMost - 1),
            ProfilerAction::none);
}

TEST_F(ScheduleTest, WrongNumbersAreRefusedInTorchsWords) {
  try {
    schedule({.warmup = -1});
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "Invalid profiler schedule arguments. Got wait=0 (need >= 0), warmup=-1 (need >= "
                 "0), active=0 (need > 0), repeat=0 (need >= 0), skip_first=0 (need >= 0).");
  }
  EXPECT_THROW(schedule({.warmup = 1, .active = 1})(-1), std::invalid_argument);
}

TEST_F(ScheduleTest, ActionsHaveTorchsNames) {
  EXPECT_STREQ(action_name(ProfilerAction::none), "NONE");
  EXPECT_STREQ(action_name(ProfilerAction::warmup), "WARMUP");
  EXPECT_STREQ(action_name(ProfilerAction::record), "RECORD");
  EXPECT_STREQ(action_name(ProfilerAction::record_and_save), "RECORD_AND_SAVE");
}

TEST_F(ScheduleTest, ExplainsStretches) {
  EXPECT_EQ(explain(schedule({.wait = 2, .warmup = 1, .active = 2, .repeat = 1}), 8),
            "steps 0 to 1: NONE\n"
            "step 2: WARMUP\n"
            "step 3: RECORD\n"
            "step 4: RECORD_AND_SAVE\n"
            "  step() number 5 hands over cycle 1\n"
            "steps 5 to 7: NONE\n");
  EXPECT_EQ(explain(schedule({.warmup = 1, .active = 9}), 3),
            "step 0: WARMUP\nsteps 1 to 2: RECORD\nonly stop() hands over what is recorded\n");
  EXPECT_EQ(explain(schedule({.wait = 9, .warmup = 1, .active = 9}), 3),
            "steps 0 to 2: NONE\nno cycle is handed over in so many steps\n");
}

}  // namespace
}  // namespace tbtrace
