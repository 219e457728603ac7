#include "trace/times.h"

#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

namespace tbtrace {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr TimeRange kHost = {0, kSecond};

std::optional<TimeRange> reach(const std::vector<TimeRange>& work) {
  return recording_reach(kHost, work);
}

TEST(RecordingReach, HasWorkThatRunsOnAfterTheHost) {
  EXPECT_FALSE(reach({}));
  EXPECT_FALSE(reach({{10, 20}, {kSecond, 90 * kSecond}, {91 * kSecond, 95 * kSecond}}));
  EXPECT_FALSE(reach({{10, 20}, {15, 30}, {3 * kSecond, 4 * kSecond}}));
}

TEST(RecordingReach, HasWorkThatRanBeforeTheHost) {
  EXPECT_FALSE(reach({{-2 * kSecond, -kSecond}, {10, 20}, {30, 40}}));
}

TEST(RecordingReach, IsWithoutWorkFarAfterTheHost) {
  const std::vector<TimeRange> work = {
      {10, 20}, {30, 40}, {50, 2 * kSecond}, {4 * kSecond + 1, 4 * kSecond + 2}};
  EXPECT_EQ(reach(work), (TimeRange{0, 2 * kSecond}));
  EXPECT_TRUE(is_outside(*reach(work), work.back()));
  EXPECT_FALSE(is_outside(*reach(work), work[2]));
}

TEST(RecordingReach, IsWithoutWorkFarBeforeTheHost) {
  EXPECT_EQ(reach({{-100 * kSecond, -99 * kSecond}, {-5, 20}, {30, 40}}), (TimeRange{-5, kSecond}));
  EXPECT_EQ(reach({{-900 * kSecond, -899 * kSecond}, {-100 * kSecond, 10}, {20, 30}}), kHost)
      << "work that lost its start does not widen it";
}

TEST(RecordingReach, IsUnknownIfHalfOfTheWorkIsOutside) {
  EXPECT_FALSE(reach({{10, 20}, {100 * kSecond, 101 * kSecond}}));
}

}  // namespace
}  // namespace tbtrace
