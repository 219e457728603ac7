#include "base/decimal.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "fixtures/exact_decimal.h"
#include "fixtures/random_rounds.h"

namespace tbtrace {
namespace {

using fixtures::exact_integer;
using fixtures::exact_json_integer;
using fixtures::exact_nanoseconds;
using fixtures::random_rounds;

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

/// The padded form gets text whose neighbours are digits, which it must not take in.
std::optional<std::int64_t> padded_integer(const std::string& text) {
  const std::string padded = text + "98765432";
  std::int64_t number = 0;
  const bool is_number =
      parse_padded_integer(std::string_view(padded).substr(0, text.size()), number);
  return is_number ? std::optional(number) : std::nullopt;
}

std::optional<std::int64_t> padded_microseconds(const std::string& text) {
  const std::string padded = text + "98765432";
  std::int64_t number = 0;
  const bool is_number =
      parse_padded_microseconds(std::string_view(padded).substr(0, text.size()), number);
  return is_number ? std::optional(number) : std::nullopt;
}

TEST(Decimal, ReadsWholeNumbers) {
  EXPECT_EQ(parse_integer("0"), 0);
  EXPECT_EQ(parse_integer("-0"), 0);
  EXPECT_EQ(parse_integer("7"), 7);
  EXPECT_EQ(parse_integer("-42"), -42);
  EXPECT_EQ(parse_integer("0012"), 12);
  EXPECT_EQ(parse_integer("12345678"), 12345678);
  EXPECT_EQ(parse_integer("123456789"), 123456789);
  EXPECT_EQ(parse_integer("9223372036854775807"), kMax);
  EXPECT_EQ(parse_integer("-9223372036854775808"), kMin);
}

TEST(Decimal, KeepsTheBitsOfUnsignedIds) {
  EXPECT_EQ(parse_integer("9223372036854775808"), kMin);
  EXPECT_EQ(parse_integer("18446744073709551615"), -1);
}

TEST(Decimal, RefusesIntegersThatDoNotFit) {
  EXPECT_EQ(parse_integer("18446744073709551616"), std::nullopt);
  EXPECT_EQ(parse_integer("-9223372036854775809"), std::nullopt);
  EXPECT_EQ(parse_integer("99999999999999999999"), std::nullopt);
  EXPECT_EQ(parse_integer(std::string(400, '1')), std::nullopt);
}

TEST(Decimal, RefusesWhatIsNoInteger) {
  for (const std::string text :
       {"", "-", "--1", "1-", "1.0", "1e3", " 1", "1 ", "x", "0x10", "1,000", "null", "12345678/",
        "1234567:", "\xff", "1\xb0", "\xfa\xfa"}) {
    EXPECT_EQ(parse_integer(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_integer(std::string_view("1\0", 2)), std::nullopt);
}

TEST(Decimal, EveryByteButDigitsIsRefusedAtEveryPlace) {
  for (std::size_t size = 1; size <= 20; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string text(size, '1');
        text[at] = static_cast<char>(byte);
        EXPECT_EQ(padded_integer(text), exact_json_integer(text)) << text;
      }
    }
  }
}

TEST(Decimal, IntegersOfEveryLengthAgreeWithTheReference) {
  std::mt19937_64 random(1);
  for (int round = 0; round < random_rounds(200000); ++round) {
    std::string text = random() % 3 == 0 ? "-" : "";
    const std::size_t size = 1 + random() % 21;
    for (std::size_t at = 0; at < size; ++at) text += static_cast<char>('0' + random() % 10);
    ASSERT_EQ(parse_integer(text), exact_integer(text)) << text;
    ASSERT_EQ(padded_integer(text), exact_json_integer(text)) << text;
  }
}

TEST(Decimal, ReadsTimesAsTorchWritesThem) {
  EXPECT_EQ(parse_microseconds("12"), 12000);
  EXPECT_EQ(parse_microseconds("12.345"), 12345);
  EXPECT_EQ(parse_microseconds("0.001"), 1);
  EXPECT_EQ(parse_microseconds("1717171717171717.123"), 1717171717171717123);
  EXPECT_EQ(parse_microseconds("-3.5"), -3500);
}

TEST(Decimal, ReadsTimesAsOtherWritersHaveThem) {
  EXPECT_EQ(parse_microseconds("1.2e3"), 1200000);
  EXPECT_EQ(parse_microseconds("1.5E-1"), 150);
  EXPECT_EQ(parse_microseconds("1e+2"), 100000);
  EXPECT_EQ(parse_microseconds("12.300000000000000000000000000000000000000"), 12300);
  EXPECT_EQ(parse_microseconds("0e9999"), 0);
  EXPECT_EQ(parse_microseconds("1e-9999"), 0);
}

TEST(Decimal, RoundsHalfAwayFromZero) {
  EXPECT_EQ(parse_microseconds("0.0004"), 0);
  EXPECT_EQ(parse_microseconds("0.0005"), 1);
  EXPECT_EQ(parse_microseconds("-0.0005"), -1);
  EXPECT_EQ(parse_microseconds("0.00049999999999999999999999"), 0);
  EXPECT_EQ(parse_microseconds("1.9995"), 2000);
  EXPECT_EQ(parse_microseconds("1.2344999"), 1234);
  EXPECT_EQ(parse_microseconds("5e-4"), 1);
  EXPECT_EQ(parse_microseconds("4.9e-4"), 0);
}

TEST(Decimal, RoundsTimesOfTodayWithMoreThanThreeDecimals) {
  EXPECT_EQ(parse_microseconds("1717171717171717.1234"), 1717171717171717123);
  EXPECT_EQ(parse_microseconds("1717171717171717.1235"), 1717171717171717124);
  EXPECT_EQ(parse_microseconds("-1717171717171717.1235"), -1717171717171717124);
  EXPECT_EQ(parse_microseconds("1717171717171717.9999"), 1717171717171718000);
}

TEST(Decimal, TimesReachToTheEndsOfTheRange) {
  EXPECT_EQ(parse_microseconds("9223372036854775.807"), kMax);
  EXPECT_EQ(parse_microseconds("9223372036854775.8074"), kMax);
  EXPECT_EQ(parse_microseconds("-9223372036854775.807"), -kMax);
  EXPECT_EQ(parse_microseconds("-9223372036854775.808"), kMin);
  EXPECT_EQ(parse_microseconds("9.223372036854775807e15"), kMax);
}

TEST(Decimal, RefusesTimesThatDoNotFit) {
  for (const std::string text :
       {"9223372036854775.808", "9223372036854775.8075", "-9223372036854775.809",
        "-9223372036854775.8085", "9999999999999999.999", "9999999999999999", "9223372036854776",
        "18446744073709551.615", "18446744073709551.616", "1e300", "1e19", "-1e16"}) {
    EXPECT_EQ(parse_microseconds(text), std::nullopt) << text;
  }
}

TEST(Decimal, RefusesWhatIsNoTime) {
  for (const std::string text :
       {"",    "-",    "+",    ".",        "-.",    "e5",   ".e5",  "1e",     "1e+",
        "1e-", "3.",   "3.e5", "1ex",      ".25",   "-.5",  "+4.5", "+1",     "01",
        "-01", "00.5", "007",  "1e5x",     "1.2.3", "1..2", "1,5",  " 1",     "1 ",
        "nan", "inf",  "NaN",  "Infinity", "0x1p3", "--1",  "+-1",  "1e99999"}) {
    EXPECT_EQ(parse_microseconds(text), std::nullopt) << text;
  }
}

/// Numbers near the borders of the fast paths and of the range, with all kinds of decimals.
std::string random_time(std::mt19937_64& random) {
  const std::vector<std::string> wholes = {"",
                                           "0",
                                           "9",
                                           "9223372036854775",
                                           "9223372036854774",
                                           "9223372036854776",
                                           "18446744073709551",
                                           "1717171717171717",
                                           "999999999999999",
                                           "9999999999999999"};
  const std::vector<std::string> decimals = {"807", "808", "809", "999", "000", "8075", "8084999"};
  const auto digits = [&](std::size_t count) {
    std::string text;
    while (text.size() < count) text += static_cast<char>('0' + random() % 10);
    return text;
  };
  std::string text;
  if (random() % 4 == 0) text += random() % 3 == 0 ? '+' : '-';
  text += random() % 2 == 0 ? wholes[random() % wholes.size()] : digits(random() % 24);
  if (random() % 4 != 0) {
    text += '.';
    text += random() % 3 == 0 ? decimals[random() % decimals.size()] : digits(random() % 24);
  }
  if (random() % 4 == 0) {
    text += random() % 2 == 0 ? 'e' : 'E';
    if (random() % 2 == 0) text += random() % 2 == 0 ? '-' : '+';
    text += digits(random() % 4);
  }
  return text;
}

TEST(Decimal, TimesAgreeWithTheReference) {
  std::mt19937_64 random(2);
  for (int round = 0; round < random_rounds(300000); ++round) {
    const std::string text = random_time(random);
    const std::optional<std::int64_t> expected = exact_nanoseconds(text);
    ASSERT_EQ(parse_microseconds(text), expected) << text;
    ASSERT_EQ(padded_microseconds(text), expected) << text;
  }
}

TEST(Decimal, DamagedTimesAgreeWithTheReference) {
  std::mt19937_64 random(3);
  for (int round = 0; round < random_rounds(100000); ++round) {
    std::string text = random_time(random);
    if (text.empty()) continue;
    text[random() % text.size()] = static_cast<char>(random());
    ASSERT_EQ(padded_microseconds(text), exact_nanoseconds(text)) << text;
  }
}

TEST(Decimal, EveryThousandthIsExact) {
  for (int whole : {0, 1, 999, 123456789}) {
    for (int thousandth = 0; thousandth < 1000; ++thousandth) {
      std::string decimals = std::to_string(thousandth);
      decimals.insert(0, 3 - decimals.size(), '0');
      EXPECT_EQ(parse_microseconds(std::to_string(whole) + "." + decimals),
                std::int64_t{whole} * 1000 + thousandth);
    }
  }
}

TEST(ParseMicroseconds, TakesAnyNumberOfDigits) {
  const std::string zeros(1200, '0');
  EXPECT_EQ(parse_microseconds("0." + zeros + "1"), 0);
  EXPECT_EQ(parse_microseconds("1e00001"), 10'000);
  EXPECT_EQ(parse_microseconds("1" + zeros + "e-1200"), 1000);
  EXPECT_EQ(parse_microseconds("0." + zeros + "1e1201"), 1000);
  EXPECT_EQ(parse_microseconds("0e99999999999"), 0);
  EXPECT_EQ(parse_microseconds("1e-99999999999"), 0);
  EXPECT_EQ(parse_microseconds("1e99999999999"), std::nullopt);
  EXPECT_EQ(parse_microseconds("1e"), std::nullopt);
  EXPECT_EQ(parse_microseconds("1e5x"), std::nullopt);
}

}  // namespace
}  // namespace tbtrace
