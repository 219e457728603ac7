#include "jobs/collectives/activity.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
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

TEST(Activity, EqualsALookAtEachPart) {
  std::uint32_t state = 1;
  const auto random = [&](std::uint32_t limit) {
    state = state * 1664525U + 1013904223U;
    return static_cast<std::int64_t>((state >> 8) % limit);
  };
  for (int round = 0; round < 200; ++round) {
    // Ranges of three kinds that never overlap, some long, some much shorter than a part.
    std::vector<std::vector<TimeRange>> ranges(3);
    std::int64_t at = random(3000);
    while (at < kStep.end + 2000) {
      const std::int64_t length = 1 + random(round % 2 == 0 ? 300 : 60'000);
      const auto kind = static_cast<std::size_t>(random(4));
      if (kind < 3) add_range(ranges[kind], {at, at + length});
      at += length;
    }
    std::vector<RankTime> expected;
    for (std::int64_t part = 0; part < kActivityParts; ++part) {
      std::array<std::int64_t, 3> ns = {};
      for (std::size_t kind = 0; kind < ranges.size(); ++kind) {
        for (const TimeRange& range : ranges[kind]) {
          const std::int64_t start = std::max(range.start, kStep.start + part * kPart);
          const std::int64_t end = std::min(range.end, kStep.start + (part + 1) * kPart);
          ns[kind] += std::max<std::int64_t>(0, end - start);
        }
      }
      const auto most = std::ranges::max_element(ns);
      expected.push_back(*most == 0 ? RankTime::unknown : static_cast<RankTime>(most - ns.begin()));
    }
    std::vector<RankTime> found;
    const std::vector<RangeLengths> lengths(ranges.begin(), ranges.end());
    for (const ActivityRun& run : jobs::activity_within(lengths, kStep)) {
      found.resize(run.end, run.time);
    }
    EXPECT_EQ(found, expected) << "round " << round;
  }
}

}  // namespace
}  // namespace tbtrace
