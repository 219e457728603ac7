#include "base/nearest_integer.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace tbtrace {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST(NearestInteger, RoundsHalvesAwayFromZero) {
  EXPECT_EQ(nearest_integer(2.5), 3);
  EXPECT_EQ(nearest_integer(-2.5), -3);
  EXPECT_EQ(nearest_integer(2.49), 2);
  EXPECT_EQ(nearest_integer(0.49999999999999994), 0);
  EXPECT_EQ(nearest_integer(4503599627370497.0), 4503599627370497);
}

TEST(NearestInteger, IsBounded) {
  constexpr double kTwoTo63 = 9223372036854775808.0;
  EXPECT_EQ(nearest_integer(kTwoTo63), kMost);
  EXPECT_EQ(nearest_integer(std::nextafter(kTwoTo63, 0.0)), kMost - 1023);
  EXPECT_EQ(nearest_integer(-kTwoTo63), kLeast);
  EXPECT_EQ(nearest_integer(1.2e19), kMost);
  EXPECT_EQ(nearest_integer(-1.2e19), kLeast);
  EXPECT_EQ(nearest_integer(std::numeric_limits<double>::infinity()), kMost);
  EXPECT_EQ(nearest_integer(-std::numeric_limits<double>::infinity()), kLeast);
  EXPECT_EQ(nearest_integer(std::numeric_limits<double>::quiet_NaN()), 0);
  EXPECT_EQ(nearest_integer(9223372036854775807.0L), kMost);
}

TEST(TruncatedInteger, IsTheIntegerPartWithinBounds) {
  EXPECT_EQ(truncated_integer(2.9), 2);
  EXPECT_EQ(truncated_integer(-2.9), -2);
  EXPECT_EQ(truncated_integer(1e300), kMost);
  EXPECT_EQ(truncated_integer(-1e300), kLeast);
  EXPECT_EQ(truncated_integer(std::numeric_limits<double>::quiet_NaN()), 0);
}

}  // namespace
}  // namespace tbtrace
