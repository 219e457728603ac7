#include "writers/tables/text_card.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tbtrace::writers {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string card_of(const std::string& name) {
  return text_card({"Step 5", {{"Name"}, {{name}}}, 0});
}

TEST(TextCard, IsEmptyWithoutRows) { EXPECT_EQ(text_card({"Step 5", {{"Name"}, {}}, 3}), ""); }

TEST(TextCard, HasAHeadingATableAndWhatIsLeftOut) {
  EXPECT_EQ(text_card({"Step 5", {{"Name", "Total\nms"}, {{std::string("a"), 1.5}}}, 2}),
            "Step 5\n\n<table>\n"
            "<thead><tr><th><pre>Name</pre></th><th><pre>Total\nms</pre></th></tr></thead>\n"
            "<tbody>\n<tr><td><code>a</code></td><td><pre>1.5</pre></td></tr>\n"
            "</tbody>\n</table>\n\n2 more rows are not shown.\n");
}

TEST(TextCard, AlignsNumbersOfAColumn) {
  const std::string card = text_card({"", {{"n"}, {{10.25}, {3.0}, {Cell()}, {-0.1234}}}, 1});
  EXPECT_THAT(card, AllOf(HasSubstr("<pre>10.250</pre>"), HasSubstr("<pre> 3.000</pre>"),
                          HasSubstr("<pre>      </pre>"), HasSubstr("<pre>-0.123</pre>"),
                          HasSubstr("\n1 more row is not shown.\n")));
  EXPECT_THAT(text_card({"", {{"n"}, {{std::int64_t{7}}, {std::uint64_t{100}}}}, 0}),
              AllOf(HasSubstr("<pre>  7</pre>"), HasSubstr("<pre>100</pre>")));
}

TEST(TextCard, HasLongNamesInFullAsATitle) {
  const std::string name = "void at::native::" + std::string(100, 'k') + "<\"a\" & 'b'>(int*)";
  EXPECT_THAT(
      card_of(name),
      AllOf(HasSubstr("<a title=\"void at::native::kkk"),
            HasSubstr("k&lt;&quot;a&quot; &amp; &#39;b&#39;&gt;(int*)\"><code>at::native::kkk"),
            HasSubstr("\u2026k")));
}

TEST(TextCard, EscapesNames) {
  EXPECT_THAT(card_of("</code><script>&amp;\x02wzxhzdk:0\x03\n\n# `x` | *y*"),
              HasSubstr("<code>&lt;/code&gt;&lt;script&gt;&amp;amp; wzxhzdk:0 # `x` | *y*</code>"));
  EXPECT_THAT(card_of(""), HasSubstr("<td>(no name)</td>"));
  EXPECT_THAT(card_of("a\xff"), HasSubstr("<code>a\ufffd</code>"));
  EXPECT_THAT(card_of(std::string(70, '"')), Not(HasSubstr("\"\"")));
}

TEST(TextCard, NumbersNamesThatAPageShowsAlike) {
  const std::string a =
      "a\x01"
      "b";
  const std::string card =
      text_card({"", {{"Name"}, {{a}, {std::string("a  b")}, {std::string("a b")}, {a}}}, 0});
  EXPECT_THAT(card, AllOf(HasSubstr("<code>a b</code>"), HasSubstr("<code>a b #2</code>"),
                          HasSubstr("<code>a b #3</code>"), Not(HasSubstr("#4"))));
}

TEST(TextCard, ShowsLabelsWithTheNamesAsTheirTitles) {
  const std::string card = text_card({"", {{"n"}, {{std::string("void f<1>(int)")}}}, 0, {"f"}});
  EXPECT_THAT(card, HasSubstr("<a title=\"void f&lt;1&gt;(int)\"><code>f</code></a>"));
  EXPECT_THAT(text_card({"", {{"n"}, {{std::string("f")}}}, 0, {"f"}}),
              HasSubstr("<td><code>f</code></td>"));
}

}  // namespace
}  // namespace tbtrace::writers
