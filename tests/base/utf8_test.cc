#include "base/utf8.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "fixtures/random_rounds.h"
#include "fixtures/utf8_table.h"

namespace tbtrace {
namespace {

using fixtures::character_size_by_table;

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text.push_back(static_cast<char>(value));
  return text;
}

// Borders of all ranges in the table, on both sides.
constexpr std::array kInteresting = {0x00, 0x22, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf,
                                     0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee,
                                     0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xf8, 0xfe, 0xff};

TEST(Utf8, EveryPairOfBytesFollowsTheTable) {
  EXPECT_EQ(utf8_character_size(""), 0U);
  for (int first = 0; first < 256; ++first) {
    EXPECT_EQ(utf8_character_size(bytes({first})), character_size_by_table(bytes({first})));
    for (int second = 0; second < 256; ++second) {
      const std::string text = bytes({first, second});
      EXPECT_EQ(utf8_character_size(text), character_size_by_table(text)) << first << ' ' << second;
    }
  }
}

TEST(Utf8, LongerSequencesFollowTheTable) {
  for (int first = 0xc0; first < 256; ++first) {
    for (const int second : kInteresting) {
      for (const int third : kInteresting) {
        const std::string three = bytes({first, second, third});
        EXPECT_EQ(utf8_character_size(three), character_size_by_table(three));
        for (const int fourth : kInteresting) {
          const std::string four = bytes({first, second, third, fourth});
          ASSERT_EQ(utf8_character_size(four), character_size_by_table(four))
              << first << ' ' << second << ' ' << third << ' ' << fourth;
        }
      }
    }
  }
}

TEST(Utf8, WritesEveryCodePointAsTheTableHasIt) {
  for (char32_t point = 0; point <= 0x10ffff; ++point) {
    std::string text = "before";
    append_utf8(text, point);
    const std::string_view character = std::string_view(text).substr(6);
    if (point >= 0xd800 && point <= 0xdfff) {
      ASSERT_EQ(character, kReplacement);
      continue;
    }
    const std::size_t size = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    ASSERT_EQ(character.size(), size) << std::uint32_t{point};
    ASSERT_EQ(utf8_character_size(character), size) << std::uint32_t{point};
  }
}

TEST(Utf8, WritesWhatTheStandardWrites) {
  std::string text;
  for (const char32_t point : U"$\u00a3\u0418\u0939\u20ac\ud55c\U00010348\U0010ffff") {
    if (point != 0) append_utf8(text, point);
  }
  EXPECT_EQ(text, "$\u00a3\u0418\u0939\u20ac\ud55c\U00010348\U0010ffff");
}

TEST(Utf8, WritesNoCodePointsThatDoNotExist) {
  for (const char32_t point : {0x110000U, 0xffffffffU, 0xd800U, 0xdbffU, 0xdc00U, 0xdfffU}) {
    std::string text;
    append_utf8(text, static_cast<char32_t>(point));
    EXPECT_EQ(text, kReplacement);
  }
}

TEST(Utf8, CountsCodePoints) {
  EXPECT_EQ(utf8_length(""), 0U);
  EXPECT_EQ(utf8_length("abc"), 3U);
  EXPECT_EQ(utf8_length("\u6f22\u5b57 \U0001f525"), 4U);
  EXPECT_EQ(utf8_length("e\u0301"), 2U);
  EXPECT_EQ(utf8_length("\xff\x80z"), 3U);
}

TEST(Utf8, CutsBetweenCharacters) {
  const std::string_view text = "a\u6f22\xff\U0001f525z";
  EXPECT_EQ(utf8_prefix(text, 0), "");
  EXPECT_EQ(utf8_prefix(text, 1), "a");
  EXPECT_EQ(utf8_prefix(text, 2), "a\u6f22");
  EXPECT_EQ(utf8_prefix(text, 3), "a\u6f22\xff");
  EXPECT_EQ(utf8_prefix(text, 4), "a\u6f22\xff\U0001f525");
  EXPECT_EQ(utf8_prefix(text, 5), text);
  EXPECT_EQ(utf8_prefix(text, 1000), text);
  EXPECT_EQ(utf8_shortened(text, 2), "a\u6f22...");
  EXPECT_EQ(utf8_shortened(text, 5), text);
}

TEST(Utf8, ReplacesOnlyBadBytes) {
  EXPECT_EQ(to_utf8(""), "");
  EXPECT_EQ(to_utf8("na\u00efve \U0001f525"), "na\u00efve \U0001f525");
  EXPECT_EQ(to_utf8("caf\xe9!"), "caf\ufffd!");              // Latin-1
  EXPECT_EQ(to_utf8("\xc0\x80"), "\ufffd\ufffd");            // an overlong zero
  EXPECT_EQ(to_utf8("\xed\xa0\x80"), "\ufffd\ufffd\ufffd");  // a surrogate
  EXPECT_EQ(to_utf8("\xf0\x9f\x94"), "\ufffd\ufffd\ufffd");  // cut off
  EXPECT_EQ(to_utf8("\xf0\x9f\x94\"x"), "\ufffd\ufffd\ufffd\"x");
}

TEST(Utf8, RandomBytesBecomeUtf8OfTheSameLength) {
  std::mt19937 random(1);
  for (int round = 0; round < fixtures::random_rounds(100000); ++round) {
    std::string text;
    for (std::size_t size = random() % 12; text.size() < size;) {
      if (random() % 3 == 0) {
        append_utf8(text, random() % 0x110000);
      } else {
        text.push_back(static_cast<char>(kInteresting[random() % kInteresting.size()]));
      }
    }
    const bool valid = fixtures::is_utf8_by_table(text);
    ASSERT_EQ(is_utf8(text), valid);
    const std::string clean = to_utf8(text);
    ASSERT_TRUE(is_utf8(clean));
    ASSERT_EQ(clean == text, valid);
    ASSERT_EQ(to_utf8(clean), clean);
    ASSERT_EQ(utf8_length(clean), utf8_length(text));
  }
}

}  // namespace
}  // namespace tbtrace
