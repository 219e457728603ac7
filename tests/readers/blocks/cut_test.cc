#include "readers/blocks/cut.h"

#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "fixtures/chrome_text.h"
#include "fixtures/random_rounds.h"

namespace tbtrace::readers {
namespace {

using fixtures::ChromeEvent;
using fixtures::Layout;
using fixtures::op;

/// What would be the start of the next block.
std::string_view tail(std::string_view text) {
  const std::size_t cut = find_cut(text);
  EXPECT_LE(cut, text.size());
  return cut == 0 ? std::string_view() : text.substr(cut);
}

TEST(FindCut, CutsAfterTheLastCommaThatAnEventFollows) {
  EXPECT_EQ(tail(R"([{"ph":"X"},{"ph":"X"},{"ph":"M"}])"), R"({"ph":"M"}])");
  EXPECT_EQ(tail(R"({"ph":"X"}, {"name":"a","ph":"X","ts)"), R"( {"name":"a","ph":"X","ts)");
  EXPECT_EQ(tail("{\"ph\":\"X\"},\n\t\r\n {\"ts\":1,\"ph\":\"X\"}"),
            "\n\t\r\n {\"ts\":1,\"ph\":\"X\"}");
}

TEST(FindCut, FindsTheLastEventInEveryLayout) {
  for (const Layout layout : fixtures::kAllLayouts) {
    std::vector<ChromeEvent> events;
    for (int row = 0; row < 5; ++row) {
      ChromeEvent event = op("op " + std::to_string(row)).arg("Input Dims", "[[1, 2], []]");
      events.push_back(event.arg("nested", R"([{"name": "a"}, {"name": "b"}, {"c": {"d": {}}}])"));
    }
    const std::string text = fixtures::trace_text(events, layout);
    const std::string last = fixtures::event_text(events.back(), layout);
    const std::string_view found = tail(text);
    const std::size_t brace = found.find('{');
    ASSERT_NE(brace, std::string_view::npos) << text;
    EXPECT_TRUE(found.substr(brace).starts_with(last.substr(last.find('{')))) << found;
    EXPECT_EQ(found.find_first_not_of(" \n"), brace);
  }
}

TEST(FindCut, IsNotFooledByObjectsWithoutAPhase) {
  const std::string event = R"({"ph":"X","args":{"list":[{"a":1},{"name":"b","ts":2},{"cat":"ph"})";
  EXPECT_EQ(tail(R"({"ph":"i"},)" + event), event);
  EXPECT_EQ(tail(R"({"ph":"i"},{"ph":"X","a":[1,{"b":{"ph":"X"}})"),
            R"({"ph":"X","a":[1,{"b":{"ph":"X"}})")
      << "a phase further inside is not one of the object";
}

TEST(FindCut, IsNotFooledByAPhaseInATextOrValue) {
  for (const std::string_view object :
       {R"({"a":"ph"})", R"({"a":"\"ph\":"})", R"({"a":["ph"]})", R"({"a":{"ph":"X"}})",
        R"({"PH":"X"})", R"({"ph" "X"})", R"({ph:"X"})"}) {
    const std::string text = R"([{"ph":"X"},{"ph":"i","k":[1,)" + std::string(object) + "]}";
    EXPECT_EQ(tail(text), text.substr(text.find(R"({"ph":"i")"))) << text;
  }
}

TEST(FindCut, NeedsOnlyThePhaseOfTheLastEvent) {
  EXPECT_EQ(tail(R"({"ph":"M"},{"ph":"X"},{"ph":)"), R"({"ph":)");
  EXPECT_EQ(tail(R"({"ph":"M"},{"ph":"X"},{"ph")"), R"({"ph":"X"},{"ph")")
      << "without its colon it may be a value";
}

TEST(FindCut, IsZeroIfThereIsNone) {
  for (const std::string_view text : {"", " ", "{", "[", ",", "{\"ph\":\"X\"}", "[{\"ph\":\"X\"}]",
                                      "[1,2,3]", R"([{"a":1},{"b":2}])", R"({"ph":"X"}{"ph":"X"})",
                                      R"({"ph":"X"};{"ph":"X"})", R"({"a":{"ph":"X"}})"}) {
    EXPECT_EQ(find_cut(text), 0u) << text;
  }
}

TEST(FindCut, LooksAtABoundedPartOfTheText) {
  const std::string far = R"({"ph":"X"},{"ph":"X","name":")" + std::string(1 << 20, '{') + "\"";
  EXPECT_EQ(find_cut(far), 0u);
  const std::string long_name =
      R"({"ph":"X"},{"name":")" + std::string(10'000, 'x') + R"(","ph":"X")";
  EXPECT_EQ(tail(long_name), long_name.substr(long_name.find(R"({"name")")));
}

TEST(FindCut, GivesAPlaceAfterACommaInAnyText) {
  constexpr std::string_view kParts[] = {"{\"ph\":", "\"X\"", "},",     "{",      "}", ",",
                                         "[",        "]",     "\"",     "\\",     " ", "\n",
                                         ":",        "1",     "\"ph\"", "{\"a\":"};
  for (unsigned seed = 0; seed < fixtures::random_rounds(20'000u); ++seed) {
    std::mt19937 random(seed);
    std::string text;
    for (auto count = random() % 30; count > 0; --count)
      text += kParts[random() % std::size(kParts)];
    const std::size_t cut = find_cut(text);
    if (cut == 0) continue;
    ASSERT_LT(cut, text.size()) << text;
    ASSERT_EQ(text[cut - 1], ',') << text;
    const std::size_t brace = text.find_first_not_of(" \n", cut);
    ASSERT_NE(brace, std::string::npos) << text;
    ASSERT_EQ(text[brace], '{') << text;
  }
}

}  // namespace
}  // namespace tbtrace::readers
