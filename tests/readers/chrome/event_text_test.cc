#include "readers/chrome/event_text.h"

#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace tbtrace::readers {
namespace {

using wire::Quoting;

Token token(std::string_view text, Token::Type type = Token::Type::string) {
  return {text.data(), static_cast<std::uint32_t>(text.size()), type};
}

/// What a text means, with `!` for what JSON does not know and `?` for bytes that are no UTF-8.
std::string meaning(std::string_view text, const TextRules& rules,
                    Token::Type type = Token::Type::string) {
  std::string scratch = "what was there before";
  const DecodedText decoded = decode(token(text, type), rules, scratch);
  return std::string(decoded.text) + (decoded.unescaped ? "!" : "") +
         (decoded.invalid_utf8 ? "?" : "");
}

constexpr TextRules kJson = {Quoting::escaped, true, true};
constexpr TextRules kJsonUnknown = {Quoting::escaped, true, false};
constexpr TextRules kKineto = {Quoting::kineto_lines, true, false};

TEST(EventText, IsUnescapedAsJsonSays) {
  for (const TextRules& rules : {kJson, kJsonUnknown}) {
    EXPECT_EQ(meaning("plain", rules), "plain");
    EXPECT_EQ(meaning("", rules), "");
    EXPECT_EQ(meaning(R"(a\"b\\c\n\u00e9)", rules), "a\"b\\c\n\u00e9");
  }
}

TEST(EventText, TellsEscapesThatJsonDoesNotKnow) {
  EXPECT_EQ(meaning(R"(a\qb)", kJson), "a\\qb!");
  EXPECT_EQ(meaning(R"(\u12)", kJson), "\\u12!");
}

TEST(EventText, OfKinetoKnowsOneEscapeAndTellsOtherBackslashes) {
  for (const Quoting quoting : {Quoting::kineto_lines, Quoting::kineto_inline}) {
    const TextRules rules = {quoting, true, true};
    EXPECT_EQ(meaning(R"(a\"b)", rules), "a\"b");
    EXPECT_EQ(meaning(R"(C:\new\table)", rules), R"(C:\new\table!)");
    EXPECT_EQ(meaning("a\\", rules), "a\\!");
  }
}

TEST(EventText, TellsRawControlCharacters) {
  for (const TextRules& rules : {kJsonUnknown, kKineto}) {
    EXPECT_EQ(meaning("a\tb", rules), "a\tb!");
    EXPECT_EQ(meaning(std::string_view("a\0b", 3), rules), std::string("a\0b!", 4));
    EXPECT_EQ(meaning("a\x7f", rules), "a\x7f") << "JSON allows it";
  }
  EXPECT_EQ(meaning(R"(a\tb)", kJsonUnknown), "a\tb") << "an escape is not raw";
}

TEST(EventText, HasReplacementsForLoneSurrogates) {
  EXPECT_EQ(meaning(R"(a\ud83d)", kJson), "a\ufffd?");
  EXPECT_EQ(meaning(R"(\ude00b)", kJson), "\ufffdb?");
  EXPECT_EQ(meaning(R"(\ud83d\ud83d\ude00)", kJson), "\ufffd\U0001f600?");
}

TEST(EventText, TellsBareQuotesWhereTheyCanBe) {
  EXPECT_EQ(meaning(R"(say "hi")", kKineto), R"(say "hi"!)");
  EXPECT_EQ(meaning(R"(say \"hi\")", kKineto), R"(say "hi")");
  EXPECT_EQ(meaning(R"(\\")", kJsonUnknown), R"(\"!)");
}

TEST(EventText, ReplacesBytesThatAreNoUtf8) {
  EXPECT_EQ(meaning("a\xff", kJsonUnknown), "a\ufffd?");
  EXPECT_EQ(meaning("\xff\\n", kJsonUnknown), "\ufffd\n?");
  EXPECT_EQ(meaning("\xc3", kKineto), "\ufffd?");
  EXPECT_EQ(meaning("\u00e9", kJsonUnknown), "\u00e9");
}

TEST(EventText, OfScalarsHasNoEscapes) {
  EXPECT_EQ(meaning("1.5", kJson, Token::Type::scalar), "1.5");
  EXPECT_EQ(meaning("[\"a\\n\"]", kJsonUnknown, Token::Type::nested), "[\"a\\n\"]");
}

TEST(EventText, IsPlainIfItIsItsOwnMeaning) {
  EXPECT_TRUE(is_plain("abc", kJson));
  EXPECT_FALSE(is_plain("a\\nc", kJson));
  EXPECT_TRUE(is_plain("abc", {Quoting::escaped, false, true}));
  EXPECT_FALSE(is_plain("abc", kJsonUnknown)) << "nobody has looked for bad bytes";
}

TEST(EventText, IsComparedByItsMeaning) {
  std::string scratch;
  EXPECT_EQ(readers::meaning(token(R"(\u0058)"), kJson, scratch), "X");
  EXPECT_EQ(readers::meaning(token(R"(\u0058)"), kKineto, scratch), R"(\u0058)");
  EXPECT_EQ(readers::meaning(token("5", Token::Type::scalar), kJson, scratch), "5");
}

}  // namespace
}  // namespace tbtrace::readers
