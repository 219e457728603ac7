#include <string>

#include <gtest/gtest.h>

#include <tbtrace/report.h>

namespace tbtrace {
namespace {

TEST(WrappedText, BreaksLongLinesAtBlanksAndIndentsTheRest) {
  EXPECT_EQ(wrapped_text("one two three four five\nsix\n", 12),
            "one two\n    three\n    four\n    five\nsix\n");
  EXPECT_EQ(wrapped_text("  -> one two three\n", 12), "  -> one two\n      three\n");
}

TEST(WrappedText, LeavesShortLinesAndLongWordsAsTheyAre) {
  EXPECT_EQ(wrapped_text("a  b   c\n\n", 9), "a  b   c\n\n");
  EXPECT_EQ(wrapped_text("a/very/long/path/of/one/word\n", 9), "a/very/long/path/of/one/word\n");
  EXPECT_EQ(wrapped_text("in a/very/long/path then\n", 9), "in\n    a/very/long/path\n    then\n");
}

TEST(WrappedText, WithoutALimitNothingChanges) {
  const std::string text = "one two three\n    four\n";
  EXPECT_EQ(wrapped_text(text, 0), text);
}

TEST(WrappedText, CountsCharactersNotBytes) {
  EXPECT_EQ(wrapped_text("\u00e4\u00f6\u00fc \u00e4\u00f6\n", 6),
            "\u00e4\u00f6\u00fc \u00e4\u00f6\n");
}

TEST(WrappedText, NoWordIsLostAtAnyWidth) {
  const std::string text =
      "GPU idle 1.5 s, while the host waited  for data\n    gap 2 ms (before aten::mm)\n\nend";
  const auto words = [](const std::string& from) {
    std::string letters;
    for (const char letter : from) {
      if (letter != ' ' && letter != '\n') letters += letter;
    }
    return letters;
  };
  for (std::size_t width = 1; width < 80; ++width)
    EXPECT_EQ(words(wrapped_text(text, width)), words(text)) << width;
}

}  // namespace
}  // namespace tbtrace
