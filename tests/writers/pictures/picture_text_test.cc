#include "writers/pictures/picture_text.h"

#include <cstddef>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/utf8.h"
#include "fixtures/hostile_names.h"

namespace tbtrace::writers {
namespace {

constexpr std::string_view kReplacement = "\ufffd";

/// All of a text as it is drawn.
std::string shown(std::string_view text) {
  std::string all;
  while (!text.empty()) {
    const auto [character, size] = first_drawn_character(text);
    all += character;
    text.remove_prefix(size);
  }
  return all;
}

/// Cut where each character takes a unit, and wide ones two.
std::string fitted(std::string_view text, double room) {
  return fitted_text(text, room, [](std::string_view each) {
    return each >= "\xe1\x84\x80" && each < "\xe2" ? 2 : 1;
  });
}

TEST(PictureText, CharactersAreShownAsTheyAre) {
  EXPECT_EQ(shown("aten::mm <\u00e9\u05d0\u6f22\U0001f525>"),
            "aten::mm <\u00e9\u05d0\u6f22\U0001f525>");
}

TEST(PictureText, WhiteSpaceIsBlank) { EXPECT_EQ(shown("a\tb\nc\r\nd e"), "a b c  d e"); }

TEST(PictureText, ControlCharactersAreReplaced) {
  for (const std::string_view control :
       {std::string_view("\0", 1), std::string_view("\x01"), std::string_view("\x1b"),
        std::string_view("\x7f"), std::string_view("\u0080"), std::string_view("\u009f")}) {
    EXPECT_EQ(shown(control), kReplacement);
  }
  EXPECT_EQ(shown("\u00a0"), "\u00a0");
}

TEST(PictureText, NoncharactersAreReplaced) {
  for (const std::string_view none : {"\ufdd0", "\ufdef", "\ufffe", "\uffff", "\U0001fffe",
                                      "\U0001ffff", "\U000ffffe", "\U0010ffff"}) {
    EXPECT_EQ(shown(none), kReplacement);
  }
  for (const std::string_view one :
       {"\ufdcf", "\ufdf0", "\ufffd", "\uf7fe", "\U0001fffd", "\U00010000", "\U0001f7ff"}) {
    EXPECT_EQ(shown(one), one);
  }
}

TEST(PictureText, BytesThatAreNoTextAreReplacedOneByOne) {
  EXPECT_EQ(shown("a\xff\xc3(\xe2\x82 z"), "a\ufffd\ufffd(\ufffd\ufffd z");
  EXPECT_EQ(shown("\xed\xa0\x80"), "\ufffd\ufffd\ufffd");
  for (const std::string_view name : fixtures::kHostileNames) EXPECT_TRUE(is_utf8(shown(name)));
}

TEST(PictureText, CutsWithAnEllipsis) {
  EXPECT_EQ(fitted("abcdef", 6), "abcdef");
  EXPECT_EQ(fitted("abcdef", 5), "abcd\u2026");
  EXPECT_EQ(fitted("abcdef", 5.9), "abcd\u2026");
  EXPECT_EQ(fitted("abcdef", 3), "ab\u2026");
  EXPECT_EQ(fitted("abcdef", 2), "");
  EXPECT_EQ(fitted("abcdef", 0), "");
  EXPECT_EQ(fitted("ab", 2), "ab");
  EXPECT_EQ(fitted("a", 1), "a");
  EXPECT_EQ(fitted("", 10), "");
}

TEST(PictureText, WideCharactersTakeWhatTheyTake) {
  const std::string wide = "\u1100\u1101\u1102\u1103";
  EXPECT_EQ(fitted(wide, 8), wide);
  EXPECT_EQ(fitted(wide, 7), "\u1100\u1101\u1102\u2026");
  EXPECT_EQ(fitted(wide, 6), "\u1100\u1101\u2026");
}

TEST(PictureText, MarksWithoutWidthDoNotGoOnForever) {
  std::string text = "a";
  for (int mark = 0; mark < 100'000; ++mark) text += "\u0301";
  int asked = 0;
  const std::string cut = fitted_text(text, 50, [&](std::string_view each) {
    ++asked;
    return each == "a" || each == "\u2026" ? 1.0 : 0.0;
  });
  EXPECT_LT(asked, 60);
  EXPECT_LT(cut.size(), 150u);
  EXPECT_TRUE(cut.ends_with("\u2026"));
}

}  // namespace
}  // namespace tbtrace::writers
