#include "base/bounded_sum.h"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace tbtrace {
namespace {

TEST(BoundedSum, IsTheSumOrTheNearestThatThereIs) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(bounded_sum(2, -5), -3);
  EXPECT_EQ(bounded_sum(kMost - 1, 1), kMost);
  EXPECT_EQ(bounded_sum(kMost, 1), kMost);
  EXPECT_EQ(bounded_sum(kMost, kMost), kMost);
  EXPECT_EQ(bounded_sum(kLeast, -1), kLeast);
  EXPECT_EQ(bounded_sum(kLeast, kMost), -1);
}

TEST(BoundedSum, WideSumsAreBoundedAtTheirEnd) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const WideInteger sum = WideInteger{kMost} + kMost;
  EXPECT_EQ(bounded(sum), kMost);
  EXPECT_EQ(bounded(sum - kMost), kMost);
  EXPECT_EQ(bounded(sum - kMost - kMost - 7), -7);
  EXPECT_EQ(bounded(-sum - 2), kLeast);
  EXPECT_EQ(bounded(-WideInteger{kLeast}), kMost);
}

}  // namespace
}  // namespace tbtrace
