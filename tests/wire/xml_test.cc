#include "wire/xml.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace tbtrace::wire {
namespace {

std::string text(std::string_view raw) {
  std::string xml;
  append_xml_text(xml, raw);
  return xml;
}

std::string attribute(std::string_view raw) {
  std::string xml;
  append_xml_attribute(xml, raw);
  return xml;
}

TEST(XmlTest, LeavesPlainTextAlone) {
  EXPECT_EQ(text("aten::add_(x, 3)"), "aten::add_(x, 3)");
  EXPECT_EQ(text(""), "");
  EXPECT_EQ(text("\u6f22\u5b57 \U0001f525 \u05d0\u202e"), "\u6f22\u5b57 \U0001f525 \u05d0\u202e");
}

TEST(XmlTest, EscapesMarkup) {
  const std::string_view raw = "</text><script>a && \"b\" 'c'</script> ]]>";
  const std::string_view escaped =
      "&lt;/text&gt;&lt;script&gt;a &amp;&amp; &quot;b&quot; &#39;c&#39;&lt;/script&gt; ]]&gt;";
  EXPECT_EQ(text(raw), escaped);
  EXPECT_EQ(attribute(raw), escaped);
}

TEST(XmlTest, KeepsWhitespaceThroughAParser) {
  EXPECT_EQ(text("a\tb\nc\rd"), "a\tb\nc&#13;d");
  EXPECT_EQ(attribute("a\tb\nc\rd"), "a&#9;b&#10;c&#13;d");
}

TEST(XmlTest, ReplacesControlCharacters) {
  for (int c = 0; c < 0x20; ++c) {
    if (c == '\t' || c == '\n' || c == '\r') continue;
    EXPECT_EQ(text(std::string(1, static_cast<char>(c))), "\ufffd") << c;
    EXPECT_EQ(attribute(std::string(1, static_cast<char>(c))), "\ufffd") << c;
  }
  EXPECT_EQ(text("\x7f"), "\x7f");  // discouraged, not forbidden
}

TEST(XmlTest, ReplacesNoncharacters) {
  EXPECT_EQ(text("\xef\xbf\xbe|\xef\xbf\xbf"), "\ufffd|\ufffd");
  EXPECT_EQ(text("\xef\xbf\xbd"), "\ufffd");
}

TEST(XmlTest, ReplacesBytesThatAreNoUtf8) {
  EXPECT_EQ(text("a\x80z"), "a\ufffdz");
  EXPECT_EQ(text("\xc0\xaf"), "\ufffd\ufffd");                      // overlong
  EXPECT_EQ(text("\xed\xa0\x80"), "\ufffd\ufffd\ufffd");            // a surrogate
  EXPECT_EQ(text("\xf4\x90\x80\x80"), "\ufffd\ufffd\ufffd\ufffd");  // above U+10FFFF
  EXPECT_EQ(text("\xe6\xbc"), "\ufffd\ufffd");                      // cut off
  EXPECT_EQ(text("\xe6<"), "\ufffd&lt;");                           // does not swallow the markup
}

TEST(XmlTest, AllPairsOfBytesGiveUtf8WithoutMarkup) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string raw = {static_cast<char>(first), static_cast<char>(second)};
      const std::string xml = attribute(raw);
      EXPECT_TRUE(is_utf8(xml)) << first << ' ' << second;
      EXPECT_EQ(xml.find_first_of("<>\"'"), std::string::npos) << first << ' ' << second;
    }
  }
}

}  // namespace
}  // namespace tbtrace::wire
