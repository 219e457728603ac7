#include "readers/chrome/event_separator.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace tbtrace::readers {
namespace {

/// Learned from the first event of a text.
EventSeparator learned(std::string_view text) {
  EventSeparator separator;
  separator.learn(text, text.find('}') + 1);
  return separator;
}

TEST(EventSeparator, KnowsNothingBeforeTwoEventsWereSeen) {
  for (const std::string_view text : {R"({"ph": 1})", R"({"ph": 1}, )", R"({"ph": 1}, {)",
                                      R"({"ph": 1}, {"p)", R"({"ph": 1}])", R"({"ph": 1}, 7)"}) {
    EXPECT_FALSE(learned(text).known()) << text;
    EXPECT_EQ(learned(text).next_event(R"({"ph": 1}, {"ph": 1})", 0), std::string_view::npos);
  }
  EXPECT_TRUE(learned(R"({"ph": 1}, {"ph")").known());
}

TEST(EventSeparator, LearnsNothingFromAPlaceThatIsNotTheEndOfAnEvent) {
  EventSeparator separator;
  separator.learn(R"({"ph": 1}, {"ph": 2})", 0);
  separator.learn(R"({"ph": 1}, {"ph": 2})", 3);
  EXPECT_FALSE(separator.known());
}

TEST(EventSeparator, FindsTheNextEventOfTheSameLayout) {
  const EventSeparator separator = learned("{\"ph\": 1},\n  {\"ph\": 2}");
  const std::string_view text = "\"a\": 1},\n  {\"ph\": 3},\n  {\"ph\": 4}";
  const std::size_t first = separator.next_event(text, 0);
  ASSERT_NE(first, std::string_view::npos);
  EXPECT_TRUE(text.substr(first).starts_with(",\n  {\"ph\": 3}")) << text.substr(first);
  EXPECT_TRUE(text.substr(separator.next_event(text, first + 1)).starts_with(",\n  {\"ph\": 4}"));
  EXPECT_EQ(separator.next_event("{\"ph\": 3}, {\"ph\": 4}", 0), std::string_view::npos)
      << "not the layout of this writer";
  EXPECT_EQ(separator.next_event("", 0), std::string_view::npos);
}

TEST(EventSeparator, DoesNotTakeAnObjectInsideAnEventForOne) {
  const EventSeparator separator = learned(R"({"ph": 1}, {"ph": 2})");
  EXPECT_EQ(separator.next_event(R"({"ph": [{"a": 1}, {"a": 2}]})", 0), std::string_view::npos);
}

}  // namespace
}  // namespace tbtrace::readers
