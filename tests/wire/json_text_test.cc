#include "wire/json_text.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/utf8.h"
#include "fixtures/random_rounds.h"

namespace tbtrace::wire {
namespace {

struct Unescaped {
  std::string text;
  Escapes escapes = Escapes::valid;

  bool operator==(const Unescaped&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Unescaped& value) {
  constexpr std::array kWords = {"", " with an unpaired surrogate", " with an unknown escape"};
  return out << '<' << value.text << '>' << kWords.at(static_cast<std::size_t>(value.escapes));
}

Unescaped unescaped(std::string_view content) {
  Unescaped result;
  result.escapes = append_unescaped(result.text, content);
  return result;
}

std::string escaped(std::string_view text) {
  std::string json;
  append_json_string(json, text);
  return json;
}

TEST(JsonText, KnowsTheEscapesOfJson) {
  EXPECT_EQ(unescaped(""), (Unescaped{""}));
  EXPECT_EQ(unescaped("plain"), (Unescaped{"plain"}));
  EXPECT_EQ(unescaped(R"(\"\\\/\b\f\n\r\t)"), (Unescaped{"\"\\/\b\f\n\r\t"}));
  EXPECT_EQ(unescaped(R"(a\u0041\u00e9\u6F22z)"), (Unescaped{"aA\u00e9\u6f22z"}));
  EXPECT_EQ(unescaped(R"(\u0000)"), (Unescaped{std::string(1, '\0')}));
  EXPECT_EQ(unescaped(R"(\\u0041)"), (Unescaped{"\\u0041"}));
}

TEST(JsonText, JoinsSurrogates) {
  EXPECT_EQ(unescaped(R"(\ud83d\udd25)"), (Unescaped{"\U0001f525"}));
  EXPECT_EQ(unescaped(R"(\uD800\uDC00\uDBFF\uDFFF)"), (Unescaped{"\U00010000\U0010ffff"}));
}

TEST(JsonText, LoneSurrogatesAreReplaced) {
  EXPECT_EQ(unescaped(R"(\ud83d)"), (Unescaped{"\ufffd", Escapes::unpaired}));
  EXPECT_EQ(unescaped(R"(\udd25)"), (Unescaped{"\ufffd", Escapes::unpaired}));
  EXPECT_EQ(unescaped(R"(\ud83dx)"), (Unescaped{"\ufffdx", Escapes::unpaired}));
  EXPECT_EQ(unescaped(R"(\ud83d\u0041)"), (Unescaped{"\ufffdA", Escapes::unpaired}));
  EXPECT_EQ(unescaped(R"(\ud83d\ud83d\udd25)"), (Unescaped{"\ufffd\U0001f525", Escapes::unpaired}));
  EXPECT_EQ(unescaped(R"(\udd25\ud83d)"), (Unescaped{"\ufffd\ufffd", Escapes::unpaired}));
}

TEST(JsonText, KeepsEscapesThatJsonDoesNotKnow) {
  for (const std::string content : {R"(\)", R"(\x41)", R"(\')", R"(\u)", R"(\u12)", R"(\u12g4)",
                                    R"(\U0041)", R"(a\)", R"(\0)", R"(\u 123)", R"(\u-123)"}) {
    EXPECT_EQ(unescaped(content), (Unescaped{content, Escapes::unknown}));
  }
  EXPECT_EQ(unescaped(R"(C:\dir\new)"), (Unescaped{"C:\\dir\new", Escapes::unknown}));
  EXPECT_EQ(unescaped(R"(\ud83d\u12)"), (Unescaped{"\ufffd\\u12", Escapes::unknown}));
  EXPECT_EQ(unescaped(std::string_view("\\\0", 2)),
            (Unescaped{std::string("\\\0", 2), Escapes::unknown}));
}

TEST(JsonText, AppendsBehindWhatIsThere) {
  std::string text = "before ";
  EXPECT_EQ(append_unescaped(text, "and\\n"), Escapes::valid);
  append_json_string(text, "a\nb");
  EXPECT_EQ(text, "before and\n\"a\\nb\"");
}

TEST(JsonText, EscapesWhatJsonForbids) {
  EXPECT_EQ(escaped(""), R"("")");
  EXPECT_EQ(escaped("a/b 'c' \u6f22 \U0001f525"), "\"a/b 'c' \u6f22 \U0001f525\"");
  EXPECT_EQ(escaped("\"\\\n\t"), R"("\"\\\n\t")");
  EXPECT_EQ(escaped("\r\b\f\x01\x1f\x7f"), R"("\u000d\u0008\u000c\u0001\u001f\u007f")");
  EXPECT_EQ(escaped(std::string(1, '\0')), R"("\u0000")");
  EXPECT_EQ(escaped("</script><!--"), R"("</script><!--")");
}

TEST(JsonText, EscapesForHtmlWhatItWouldTakeForATag) {
  std::string json;
  append_html_json_string(json, "</script><!-- \"");
  EXPECT_EQ(json, R"("\u003c/script>\u003c!-- \"")");
}

TEST(JsonText, ReplacesBytesThatAreNoUtf8) {
  EXPECT_EQ(escaped("a\xffz"), "\"a\ufffdz\"");
  EXPECT_EQ(escaped("\xed\xa0\x80"), "\"\ufffd\ufffd\ufffd\"");
  EXPECT_EQ(escaped("\xe6\xbc\""), "\"\ufffd\ufffd\\\"\"");
}

TEST(JsonText, EveryPairOfBytesSurvivesTheRoundTrip) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string text = {static_cast<char>(first), static_cast<char>(second)};
      const std::string json = escaped(text);
      ASSERT_EQ(unescaped(std::string_view(json).substr(1, json.size() - 2)),
                (Unescaped{to_utf8(text)}))
          << first << ' ' << second;
      for (const char c : json) ASSERT_GE(static_cast<unsigned char>(c), 0x20);
    }
  }
}

TEST(JsonText, EveryUnitOfUtf16IsReadAsStdHasIt) {
  constexpr std::string_view kHex = "0123456789abcdefABCDEF";
  for (std::uint32_t unit = 0; unit < 0x10000; ++unit) {
    std::string content = "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) {
      const std::uint32_t digit = unit >> shift & 15;
      content += kHex[digit + (digit > 9 && (unit & 1) != 0 ? 6 : 0)];
    }
    const bool is_half = unit >= 0xd800 && unit < 0xe000;
    Unescaped expected = {"", is_half ? Escapes::unpaired : Escapes::valid};
    append_utf8(expected.text, unit);
    ASSERT_EQ(unescaped(content), expected) << content;
  }
}

TEST(JsonText, RandomTextsSurviveTheRoundTrip) {
  std::mt19937 random(1);
  for (int round = 0; round < fixtures::random_rounds(20000); ++round) {
    std::string text;
    for (std::size_t count = random() % 20; count > 0; --count) {
      const std::uint32_t end = random() % 2 == 0 ? 0x80 : 0x110000;
      append_utf8(text, static_cast<std::uint32_t>(random() % end));
    }
    const std::string json = escaped(text);
    ASSERT_EQ(unescaped(std::string_view(json).substr(1, json.size() - 2)), (Unescaped{text}));
  }
}

}  // namespace
}  // namespace tbtrace::wire
