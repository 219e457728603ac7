#include "readers/chrome/row_times.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace tbtrace::readers {
namespace {

std::optional<std::int64_t> padded_time_ns(std::string_view text) {
  const std::string padded = std::string(text) + std::string(8, '\0');
  std::int64_t ns = 0;
  const bool is_time = time_ns(std::string_view(padded).substr(0, text.size()), ns);
  return is_time ? std::optional(ns) : std::nullopt;
}

TEST(TimeNs, ReadsMicrosecondsWithDecimals) {
  EXPECT_EQ(padded_time_ns("12.345"), 12'345);
  EXPECT_EQ(padded_time_ns("-5"), -5'000);
  EXPECT_EQ(padded_time_ns("1e1"), 10'000);
  EXPECT_EQ(padded_time_ns("0"), 0);
}

TEST(TimeNs, IsNothingForTextThatIsNotANumber) {
  for (const std::string_view text : {"", "a", "null", "[1]", "NaN", "Infinity", "1.2.3", "1 "}) {
    EXPECT_EQ(padded_time_ns(text), std::nullopt) << text;
  }
}

TEST(TimeNs, IsNothingForTimesThatAreTooFarAway) {
  // 2^62 ns are 4611686018427387.904 us.
  EXPECT_EQ(padded_time_ns("4611686018427387.903"), kFarthestNs - 1);
  EXPECT_EQ(padded_time_ns("4611686018427387.904"), std::nullopt);
  EXPECT_EQ(padded_time_ns("-4611686018427387.903"), 1 - kFarthestNs);
  EXPECT_EQ(padded_time_ns("-4611686018427387.904"), std::nullopt);
  EXPECT_EQ(padded_time_ns("9223372036854775.807"), std::nullopt);
}

std::optional<RangeTimes> times_of(std::int64_t start_ns, std::int64_t duration_ns) {
  RangeTimes times;
  return range_times(start_ns, duration_ns, times) ? std::optional(times) : std::nullopt;
}

TEST(RangeTimes, TakeANegativeDurationAsZero) {
  const auto times = times_of(5, -1);
  ASSERT_TRUE(times);
  EXPECT_EQ(times->start_ns, 5);
  EXPECT_EQ(times->duration_ns, 0);
  EXPECT_TRUE(times->is_negative);
  EXPECT_FALSE(times_of(5, 0)->is_negative);
}

TEST(RangeTimes, AreNothingIfTheEndIsTooFarAway) {
  EXPECT_TRUE(times_of(kFarthestNs - 5, 4));
  EXPECT_FALSE(times_of(kFarthestNs - 5, 5));
  EXPECT_TRUE(times_of(1 - kFarthestNs, kFarthestNs - 1));
  EXPECT_FALSE(times_of(1, kFarthestNs - 1));
}

}  // namespace
}  // namespace tbtrace::readers
