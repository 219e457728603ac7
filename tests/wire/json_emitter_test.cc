#include "wire/json_emitter.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <simdjson.h>

#include "fixtures/random_rounds.h"

namespace tbtrace::wire {
namespace {

using Dom = simdjson::dom::element;

TEST(JsonEmitter, PutsCommasBetweenValues) {
  std::string text;
  JsonEmitter json(text);
  json.begin_object();
  json.key("a");
  json.integer(1);
  json.key("b");
  json.begin_array();
  json.text("x");
  json.boolean(true);
  json.boolean(false);
  json.null();
  json.raw("[[1]]");
  json.begin_object();
  json.end_object();
  json.end_array();
  json.key("c");
  json.begin_array();
  json.end_array();
  json.end_object();
  EXPECT_EQ(text, R"({"a": 1, "b": ["x", true, false, null, [[1]], {}], "c": []})");
}

TEST(JsonEmitter, BreaksLinesWhereItIsTold) {
  std::string text;
  JsonEmitter json(text);
  json.begin_object();
  json.key("a");
  json.begin_array();
  for (int row = 0; row < 2; ++row) {
    json.new_line();
    json.integer(row);
  }
  json.new_line();
  json.end_array();
  json.new_line();
  json.key("b");
  json.null();
  json.end_object();
  EXPECT_EQ(text, "{\"a\": [\n0,\n1\n],\n\"b\": null}");
}

TEST(JsonEmitter, WritesEveryIntegerExactly) {
  std::string text;
  JsonEmitter json(text);
  json.begin_array();
  json.integer(std::numeric_limits<std::int64_t>::min());
  json.integer(std::numeric_limits<std::uint64_t>::max());
  json.integer(std::int16_t{-5});
  json.end_array();
  EXPECT_EQ(text, "[-9223372036854775808, 18446744073709551615, -5]");
}

TEST(JsonEmitter, DoublesThatAreNotFiniteAreNull) {
  std::string text;
  JsonEmitter json(text);
  json.begin_array();
  json.number(std::numeric_limits<double>::infinity());
  json.number(-std::numeric_limits<double>::infinity());
  json.number(std::numeric_limits<double>::quiet_NaN());
  json.number(0.5);
  json.end_array();
  EXPECT_EQ(text, "[null, null, null, 0.5]");
}

TEST(JsonEmitter, EscapesKeysAndTexts) {
  std::string text;
  JsonEmitter json(text);
  json.begin_object();
  json.key("a\"b");
  json.text("c\nd</e");
  json.end_object();
  EXPECT_EQ(text, R"({"a\"b": "c\nd\u003c/e"})");
}

TEST(JsonEmitter, DoublesComeBackBitByBit) {
  std::mt19937_64 random(1);
  std::vector<double> values = {0.0, 1.0, 0.1, 1e300, 5e-324, 1717171717171717.123, -2.5, 1e22};
  while (values.size() < 2000) {
    const auto bits = random();
    double value;
    static_assert(sizeof value == sizeof bits);
    std::memcpy(&value, &bits, sizeof value);
    if (std::isfinite(value)) values.push_back(value);
  }
  std::string text;
  JsonEmitter json(text);
  json.begin_array();
  for (const double value : values) json.number(value);
  json.end_array();
  simdjson::dom::parser parser;
  std::size_t number = 0;
  for (const Dom element : parser.parse(text).get_array()) {
    EXPECT_EQ(double{element.get_double()}, values[number]) << values[number];
    ++number;
  }
  EXPECT_EQ(number, values.size());
}

/// Emits a random value and returns what a parser should make of it, in simdjson's own spelling.
class RandomDocument {
 public:
  RandomDocument(unsigned seed, JsonEmitter& json) : random_(seed), json_(json) {}

  std::string value(int depth) {
    if (random_() % 4 == 0) json_.new_line();
    switch (random_() % (depth > 0 ? 6 : 4)) {
      case 0:
        json_.null();
        return "null";
      case 1:
        json_.boolean(true);
        return "true";
      case 2: {
        const auto number = static_cast<std::int64_t>(random_());
        json_.integer(number);
        return std::to_string(number);
      }
      case 3:
        json_.text("a text");
        return "\"a text\"";
      case 4: {
        json_.begin_array();
        std::string expected = "[";
        for (std::size_t count = random_() % 4; count > 0; --count) {
          if (expected.size() > 1) expected += ',';
          expected += value(depth - 1);
        }
        if (random_() % 4 == 0) json_.new_line();
        json_.end_array();
        return expected + "]";
      }
      default: {
        json_.begin_object();
        std::string expected = "{";
        for (std::size_t count = random_() % 4; count > 0; --count) {
          if (expected.size() > 1) expected += ',';
          if (random_() % 4 == 0) json_.new_line();
          json_.key("key");
          expected += "\"key\":" + value(depth - 1);
        }
        json_.end_object();
        return expected + "}";
      }
    }
  }

 private:
  std::mt19937 random_;
  JsonEmitter& json_;
};

TEST(JsonEmitter, AParserReadsWhatWasWritten) {
  simdjson::dom::parser parser;
  for (unsigned seed = 0; seed < fixtures::random_rounds(2000u); ++seed) {
    std::string text;
    JsonEmitter json(text);
    const std::string expected = RandomDocument(seed, json).value(5);
    Dom root;
    ASSERT_EQ(parser.parse(text).get(root), simdjson::SUCCESS) << text;
    ASSERT_EQ(simdjson::minify(root), expected) << text;
  }
}

}  // namespace
}  // namespace tbtrace::wire
