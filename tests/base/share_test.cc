#include "base/share.h"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace tbtrace {
namespace {

TEST(MeanOfSum, IsTheNearestDouble) {
  EXPECT_EQ(mean_of_sum(915, 19), 915.0 / 19);
  EXPECT_EQ(mean_of_sum(-7, 2), -3.5);
  EXPECT_EQ(mean_of_sum(0, 3), 0);
}

TEST(MeanOfSum, OfNothingIsZero) { EXPECT_EQ(mean_of_sum(0, 0), 0); }

TEST(MeanOfSum, DoesNotOverflow) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(mean_of_sum(WideInteger{kLargest} * 4, 4), static_cast<double>(kLargest));
}

}  // namespace
}  // namespace tbtrace
