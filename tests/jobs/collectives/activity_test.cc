#include "jobs/collectives/activity.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tbtrace {
namespace {

using testing::ElementsAre;

constexpr std::int64_t kPart = 1000;
constexpr TimeRange kStep = {5000, 5000 + kActivityParts* kPart};

std::vector<ActivityRun> activity_of(const std::vector<TimeRange>& compute,
                                     const std::vector<TimeRange>& communication,
                                     TimeRange window = kStep) {
  const std::vector<RangeLengths> lengths = {RangeLengths(compute), RangeLengths(communication)};
  return jobs::activity_within(lengths, window);
}

TEST(Activity, RunsFollowEachOtherToTheEndOfTheStep) {
  EXPECT_THAT(activity_of({{5000, 5000 + 100 * kPart}}, {{5000 + 100 * kPart, kStep.end}}),
              ElementsAre(ActivityRun{100, RankTime::compute},
                          ActivityRun{kActivityParts, RankTime::communication}));
}

TEST(Activity, APartIsWhatMostOfItIs) {
  EXPECT_THAT(activity_of({{5000, 5600}}, {{5600, kStep.end}}),
              ElementsAre(ActivityRun{1, RankTime::compute},
                          ActivityRun{kActivityParts, RankTime::communication}));
  EXPECT_THAT(activity_of({{5000, 5400}}, {{5400, kStep.end}}),
              ElementsAre(ActivityRun{kActivityParts, RankTime::communication}));
}

TEST(Activity, WhereNothingWasRecordedItIsUnknown) {
  EXPECT_THAT(activity_of({}, {}), ElementsAre(ActivityRun{kActivityParts, RankTime::unknown}));
}

TEST(Activity, AStepMayBeShorterThanItsParts) {
  EXPECT_THAT(activity_of({{5000, 5003}}, {}, {5000, 5003}),
              ElementsAre(ActivityRun{kActivityParts, RankTime::compute}));
}

}  // namespace
}  // namespace tbtrace
