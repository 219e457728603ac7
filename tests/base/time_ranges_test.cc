// Sets of time against sets of instants.
#include "base/time_ranges.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/random_rounds.h"

namespace tbtrace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Ranges = std::vector<TimeRange>;
constexpr int kInstants = 30;
using Instants = std::array<bool, kInstants>;

Ranges united(const Ranges& ranges) {
  Ranges united;
  for (const TimeRange& range : ranges) add_range(united, range);
  return united;
}

Instants instants(const Ranges& ranges) {
  Instants instants = {};
  for (const TimeRange& range : ranges) {
    for (std::int64_t at = range.start; at < range.end; ++at) {
      instants[static_cast<std::size_t>(at)] = true;
    }
  }
  return instants;
}

Ranges random_ranges(std::mt19937& random) {
  Ranges ranges;
  for (auto count = random() % 8; count > 0; --count) {
    const auto start = static_cast<std::int64_t>(random() % 20);
    ranges.push_back({start, start + static_cast<std::int64_t>(random() % 10)});
  }
  std::stable_sort(ranges.begin(), ranges.end(),
                   [](const TimeRange& a, const TimeRange& b) { return a.start < b.start; });
  return ranges;
}

void expect_sorted_and_apart(const Ranges& ranges) {
  for (std::size_t row = 0; row < ranges.size(); ++row) {
    EXPECT_LE(ranges[row].start, ranges[row].end);
    EXPECT_TRUE(row == 0 || ranges[row - 1].end <= ranges[row].start);
  }
}

TEST(TimeRanges, JoinWhatOverlapsOrTouches) {
  EXPECT_THAT(united({{0, 5}, {3, 4}, {5, 7}, {9, 9}, {9, 10}, {12, 12}}),
              ElementsAre(TimeRange{0, 7}, TimeRange{9, 10}, TimeRange{12, 12}));
}

TEST(TimeRanges, LeaveNothingOfWhatIsCovered) {
  EXPECT_THAT(difference(Ranges{{0, 10}}, Ranges{{0, 10}}), IsEmpty());
  EXPECT_THAT(difference(Ranges{{5, 5}}, Ranges{{0, 10}}), IsEmpty());
  EXPECT_THAT(difference(Ranges{{5, 5}}, Ranges{{5, 5}}), ElementsAre(TimeRange{5, 5}))
      << "what takes no time covers nothing";
  EXPECT_THAT(difference(Ranges{{0, 10}}, Ranges{{2, 3}, {8, 12}}),
              ElementsAre(TimeRange{0, 2}, TimeRange{3, 8}));
}

TEST(TimeRanges, LengthsFitWhereTimesAreFarApart) {
  constexpr std::int64_t kFarthest = (std::int64_t{1} << 62) - 1;
  const Ranges ranges = {{-kFarthest, kFarthest - 2}, {kFarthest - 1, kFarthest}};
  EXPECT_EQ(RangeLengths(ranges).within({-kFarthest, kFarthest}), 2 * kFarthest - 1);
  EXPECT_EQ(RangeLengths(ranges).within({0, kFarthest}), kFarthest - 1);
}

TEST(TimeRanges, MatchSetsOfInstants) {
  std::mt19937 random(7);
  for (int round = 0; round < fixtures::random_rounds(20'000); ++round) {
    const Ranges first = random_ranges(random);
    const Ranges second = random_ranges(random);
    const Ranges a = united(first);
    const Ranges b = united(second);
    ASSERT_EQ(instants(a), instants(first));
    const Ranges both = intersection(a, b);
    const Ranges left = difference(a, b);
    expect_sorted_and_apart(both);
    expect_sorted_and_apart(left);
    Instants in_both = {};
    Instants only_in_a = {};
    for (std::size_t at = 0; at < kInstants; ++at) {
      in_both[at] = instants(a)[at] && instants(b)[at];
      only_in_a[at] = instants(a)[at] && !instants(b)[at];
    }
    ASSERT_EQ(instants(both), in_both);
    ASSERT_EQ(instants(left), only_in_a);
    const auto start = static_cast<std::int64_t>(random() % kInstants);
    const auto end = start + static_cast<std::int64_t>(random() % (kInstants - start));
    const Instants set = instants(a);
    ASSERT_EQ(RangeLengths(a).within({start, end}),
              std::count(set.begin() + start, set.begin() + end, true));
    ASSERT_FALSE(testing::Test::HasFailure()) << "round " << round;
  }
}

}  // namespace
}  // namespace tbtrace
