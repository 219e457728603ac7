// Lines of ranges: against what they promise, over random ranges.
#include "analyses/timeline/rows.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace tbtrace::analyses {
namespace {

struct Range {
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::uint32_t row = 0;

  std::int64_t end() const { return start + duration; }
};

std::vector<Range> placed(std::vector<Range> ranges) {
  std::ranges::stable_sort(
      ranges, {}, [](const Range& range) { return std::pair(range.start, -range.duration); });
  TimelineRows rows;
  for (Range& range : ranges) range.row = rows.place(range.start, range.duration);
  return ranges;
}

std::vector<std::uint32_t> rows_of(std::vector<Range> ranges) {
  std::vector<std::uint32_t> rows;
  for (const Range& range : placed(std::move(ranges))) rows.push_back(range.row);
  return rows;
}

using Rows = std::vector<std::uint32_t>;

TEST(TimelineRows, PutNestedRangesBelowTheOnesAroundThem) {
  EXPECT_EQ(rows_of({{0, 10}, {1, 5}, {2, 1}, {7, 2}, {10, 3}}), Rows({0, 1, 2, 1, 0}));
}

TEST(TimelineRows, UseALineAgainWhereRangesCross) {
  EXPECT_EQ(rows_of({{0, 10}, {5, 10}, {12, 10}, {20, 10}, {29, 9}}), Rows({0, 1, 0, 1, 0}));
}

TEST(TimelineRows, KeepWhatLiesInACrossingRangeBelowIt) {
  EXPECT_EQ(rows_of({{0, 10}, {5, 15}, {8, 1}, {12, 2}}), Rows({0, 1, 2, 2}));
}

TEST(TimelineRows, PutRangesWithoutALengthBelowOneAnother) {
  EXPECT_EQ(rows_of({{5, 3}, {5, 0}, {5, 0}, {8, 0}, {8, 0}}), Rows({0, 1, 2, 0, 1}));
}

TEST(TimelineRows, NeverOverlapAndNestDownwards) {
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Range> ranges(1 + random() % 40);
    const unsigned span = 1 + random() % 60;
    for (Range& range : ranges) {
      range.start = random() % span;
      range.duration = random() % 3 == 0 ? 0 : random() % span;
    }
    ranges = placed(std::move(ranges));
    for (std::size_t later = 0; later < ranges.size(); ++later) {
      for (std::size_t sooner = 0; sooner < later; ++sooner) {
        const Range& a = ranges[sooner];
        const Range& b = ranges[later];
        const bool overlap = b.start < a.end() || (b.duration == 0 && a.start == b.start);
        if (!overlap) continue;
        EXPECT_NE(a.row, b.row) << "round " << round;
        if (b.end() <= a.end()) EXPECT_GT(b.row, a.row) << "round " << round;
      }
    }
  }
}

TEST(TimelineRows, TakeLongChainsOfCrossingRangesAndDeepOnes) {
  TimelineRows chain;
  for (std::int64_t at = 0; at < 300'000; ++at) chain.place(10 * at, 15);
  EXPECT_EQ(chain.rows(), 2U);
  TimelineRows deep;
  for (std::int64_t at = 0; at < 300'000; ++at) deep.place(at, 300'000);
  EXPECT_EQ(deep.rows(), 300'000U);
}

}  // namespace
}  // namespace tbtrace::analyses
