#include "report/duration.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace tbtrace::report {
namespace {

TEST(DurationText, HasThreeDigitsOfTheLargestUnitThatFits) {
  EXPECT_EQ(duration_text(0), "0 ns");
  EXPECT_EQ(duration_text(999), "999 ns");
  EXPECT_EQ(duration_text(1000), "1.000 us");
  EXPECT_EQ(duration_text(1'234'499), "1.234 ms");
  EXPECT_EQ(duration_text(1'234'500), "1.235 ms") << "half is rounded up";
  EXPECT_EQ(duration_text(999'999'999), "1000.000 ms");
  EXPECT_EQ(duration_text(12'345'000'000), "12.345 s");
  EXPECT_EQ(duration_text(INT64_MAX), "9223372036.855 s");
}

}  // namespace
}  // namespace tbtrace::report
