#include "readers/event_separator.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace tbtrace::readers {
namespace {

EventSeparator learned(std::string_view text) {
  EventSeparator separator;
  separator.learn(text, text.find('}') + 1);
  return separator;
}

/// What is left of a text when it is cut at the boundary.
std::string_view tail(EventSeparator& separator, std::string_view text) {
  return text.substr(separator.last_boundary(text));
}

TEST(EventSeparator, KnowsNothingBeforeTwoEventsWereSeen) {
  for (const std::string_view text : {R"({"ph": 1})", R"({"ph": 1}, )", R"({"ph": 1}, {)",
                                      R"({"ph": 1}, {"p)", R"({"ph": 1}])", R"({"ph": 1}, 7)"}) {
    EXPECT_FALSE(learned(text).known()) << text;
  }
  EXPECT_TRUE(learned(R"({"ph": 1}, {"ph")").known());
}

TEST(EventSeparator, CutsBehindTheLastEventThatAnotherFollows) {
  EventSeparator separator = learned("{\"ph\": 1},\n  {\"ph\": 2}");
  EXPECT_EQ(tail(separator, "{\"ph\": 3},\n  {\"ph\": 4},\n  {\"ph\": {}"), ",\n  {\"ph\": {}");
  EXPECT_EQ(separator.last_boundary("{\"ph\": 3}, {\"ph\": 4}"), 0U) << "not this writer's layout";
  EXPECT_EQ(separator.last_boundary(""), 0U);
}

TEST(EventSeparator, TakesRowsThatBeginWithAnotherKey) {
  EventSeparator separator = learned(R"({"name": 1}, {"name": 2})");
  const std::string block = R"({"ph": 1}, {"ph": 2}, {"ph": 3)";
  EXPECT_EQ(tail(separator, block), R"(, {"ph": 3)");
  EXPECT_EQ(separator.next_event(block, 1), block.find(", {\"ph\": 2")) << "it has learned the key";
}

TEST(EventSeparator, DoesNotLearnFromObjectsInsideAnEvent) {
  EventSeparator separator = learned(R"({"ph": 1}, {"ph": 2})");
  EXPECT_EQ(tail(separator, R"({"ph": [{"a": 1}, {"a": 2)"), R"(, {"a": 2)");
  EXPECT_EQ(tail(separator, R"({"ph": 1}, {"ph": [{"a": 1}, {"a": 2)"), R"(, {"a": 2)");
  const std::string padded = R"({"ph": 1, "name": "a long event"}, {"ph": [{"a": 1}, {"a": 2)";
  EXPECT_EQ(tail(separator, padded), R"(, {"ph": [{"a": 1}, {"a": 2)");
}

}  // namespace
}  // namespace tbtrace::readers
