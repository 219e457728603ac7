// Valid JSON is never repaired: whatever stands inside of events, all of them are read, and nothing
// else is taken for one.
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/random_json.h"
#include "fixtures/random_rounds.h"
#include "fixtures/read_text.h"
#include "fixtures/reading_ways.h"

namespace tbtrace::readers {
namespace {

using fixtures::issue_counts;
using fixtures::names;
using fixtures::RandomJson;
using fixtures::read_in_ways;
using fixtures::reading_ways;

/// A text of events, and what their names are.
struct Events {
  std::string text = "{\"traceEvents\":[";
  std::vector<std::string> names;

  void add(const std::string& name, const std::string& event) {
    if (!names.empty()) text += ',';
    names.push_back(name);
    text += event;
  }
  std::string whole() const { return text + "]}"; }
};

void expect_all(const Events& events, std::size_t least_block) {
  const Trace trace = read_in_ways(events.whole(), reading_ways(least_block));
  EXPECT_EQ(names(trace), events.names);
  EXPECT_EQ(issue_counts(trace), "");
}

/// An object that looks like an event from its start on.
std::string lookalike(int number) {
  return R"({"name":"inner )" + std::to_string(number) +
         R"(","ph":"X","ts":1,"dur":2,"pid":1,"tid":1,"args":{"x":[{"ph":"X"},{"ph":"X"}]}})";
}

TEST(ChromeStructure, OfEventsWithListsOfObjectsIsKept) {
  for (const bool phase_first : {true, false}) {
    Events events;
    for (int row = 0; row < 20'000; ++row) {
      const std::string name = "op " + std::to_string(row);
      const std::string start = phase_first ? R"({"ph":"X","name":")" + name + "\""
                                            : R"({"name":")" + name + R"(","ph":"X")";
      std::string tensors;
      for (int tensor = 0; tensor < 8; ++tensor) {
        if (tensor > 0) tensors += ", ";
        tensors += R"({"name": "tensor )" + std::to_string(tensor) + R"(", "ts": 5})";
      }
      events.add(name, start + R"(,"ts":1,"args":{"tensors":[)" + tensors + "]}}");
    }
    expect_all(events, 256 << 10);
  }
}

TEST(ChromeStructure, OfEventsInsideOfEventsIsKept) {
  Events events;
  for (int row = 0; row < 600; ++row) {
    std::string inner;
    for (int number = 0; number < row % 9; ++number) {
      inner += (number > 0 ? "," : "") + lookalike(number);
    }
    const std::string name = "op " + std::to_string(row);
    events.add(name,
               R"({"args":{"list":[)" + inner + R"(]},"ph":"X","name":")" + name + R"(","ts":1})");
  }
  expect_all(events, 64);
}

TEST(ChromeStructure, OfAnEventLongerThanABlockIsKept) {
  for (const std::size_t inner_count : {20u, 20'000u}) {
    Events events;
    for (int row = 0; row < 3000; ++row) {
      const std::string name = "op " + std::to_string(row);
      if (row == 1500) {
        std::string inner;
        for (std::size_t number = 0; number < inner_count; ++number) {
          inner += (number > 0 ? "," : "") + lookalike(static_cast<int>(number));
        }
        events.add("long", R"({"ph":"X","name":"long","ts":1,"args":{"list":[)" + inner + "]}}");
      }
      events.add(name, R"({"ph":"X","name":")" + name + R"(","ts":1})");
    }
    expect_all(events, 1000);
  }
}

TEST(ChromeStructure, OfMembersThatHoldEventsIsKept) {
  Events events;
  events.text = "{\"before\":[" + lookalike(1) + "," + lookalike(2) +
                "],\"more\":{\"traceEvents\":[" + lookalike(3) + "," + lookalike(4) +
                "]},\"traceEvents\":[";
  for (int row = 0; row < 40; ++row) {
    const std::string name = "op " + std::to_string(row);
    events.add(name, R"({"ph":"X","name":")" + name + R"(","ts":1})");
  }
  std::string after = "],\"after\":[" + lookalike(5);
  for (int number = 0; number < 400; ++number) after += "," + lookalike(number);
  const std::string text = events.text + after + "],\"last\":1}";
  const Trace trace = read_in_ways(text, reading_ways());
  EXPECT_EQ(names(trace), events.names);
  EXPECT_EQ(issue_counts(trace), "");
  EXPECT_EQ(trace.metadata().at("last"), "1");
}

TEST(ChromeStructure, OfRandomEventsIsKept) {
  for (unsigned seed = 0; seed < fixtures::random_rounds(400u); ++seed) {
    RandomJson random(seed);
    Events events;
    events.text = "{" + random.blanks();
    events.text += "\"own\":" + random.value(3);
    events.text += ",\"traceEvents\":[" + random.blanks();
    for (std::size_t row = 0; row < 2 + random.below(12); ++row) {
      const std::string name = "op " + std::to_string(row);
      std::string event = "{";
      for (std::size_t count = random.below(3); count > 0; --count) {
        event += random.blanks();
        event += random.string() + ":";
        event += random.value(4) + ",";
      }
      event += random.blanks() + R"("name")";
      event += random.blanks() + ":\"" + name + "\",";
      if (random.below(3) == 0) event += "\"list\":[" + lookalike(1) + "," + lookalike(2) + "],";
      event += R"("ph":"X","ts":)" + std::to_string(row) + random.blanks();
      if (random.below(2) == 0) event += ",\"args\":" + random.object(4);
      events.add(name, event + "}" + random.blanks());
    }
    const std::string text = events.whole();
    const Trace trace = read_in_ways(text, fixtures::some_reading_ways(seed));
    ASSERT_EQ(names(trace), events.names) << text;
    ASSERT_EQ(issue_counts(trace), "") << text;
  }
}

}  // namespace
}  // namespace tbtrace::readers
