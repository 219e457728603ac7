#include "chrome/rows/short_text.h"

#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "chrome/rows/json_numbers.h"

namespace tbtrace::chrome {
namespace {

std::string microseconds(std::int64_t ns) {
  std::string json = "t";
  append_microseconds(json, ns);
  return json;
}

TEST(ShortText, HoldsWhatWasPut) {
  ShortText<32> text;
  EXPECT_EQ(text.view(), "");
  text.put("\"id\":");
  text.put_integer(std::numeric_limits<std::int64_t>::min());
  text.put('}');
  EXPECT_EQ(text.view(), "\"id\":-9223372036854775808}");
  EXPECT_EQ(text.size(), text.view().size());
}

TEST(ShortText, WritesIntegersOfAnyLength) {
  std::uint64_t power = 1;
  for (int digits = 1; digits <= 19; ++digits, power *= 10) {
    for (const std::uint64_t number : {power - 1, power, power + 1, power * 9 + power / 7}) {
      const auto value = static_cast<std::int64_t>(number);
      for (const std::int64_t signed_value : {value, -value}) {
        std::string json;
        append_integer(json, signed_value);
        EXPECT_EQ(json, std::to_string(signed_value));
      }
    }
  }
}

TEST(ShortText, WritesMicrosecondsWithTheDecimalsTheyNeed) {
  EXPECT_EQ(microseconds(0), "t0");
  EXPECT_EQ(microseconds(12'000), "t12");
  EXPECT_EQ(microseconds(12'300), "t12.3");
  EXPECT_EQ(microseconds(12'340), "t12.34");
  EXPECT_EQ(microseconds(12'345), "t12.345");
  EXPECT_EQ(microseconds(12'005), "t12.005");
  EXPECT_EQ(microseconds(-1), "t-0.001");
  EXPECT_EQ(microseconds(-12'300), "t-12.3");
  EXPECT_EQ(microseconds(std::numeric_limits<std::int64_t>::min()), "t-9223372036854775.808");
}

}  // namespace
}  // namespace tbtrace::chrome
