#include "recorder/log/range_arguments.h"

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "wire/json_strict.h"

namespace tbtrace::recorder {
namespace {

using namespace std::string_view_literals;

TEST(RangeArguments, AreAJsonObjectInTheirOrder) {
  RangeArgumentsWriter writer;
  writer.add("batch", std::int64_t{-16});
  writer.add("bytes", std::numeric_limits<std::uint64_t>::max());
  writer.add("share", 0.5);
  writer.add("is_last", true);
  writer.add("path", "a/b"sv);
  EXPECT_EQ(range_arguments_json(writer.bytes()),
            R"({"batch": -16, "bytes": 18446744073709551615, "share": 0.5, "is_last": true, )"
            R"("path": "a/b"})");
}

TEST(RangeArguments, TheLastValueOfAKeyCounts) {
  RangeArgumentsWriter writer;
  writer.add("a", std::int64_t{1});
  writer.add("b", std::int64_t{2});
  writer.add("a", "three"sv);
  EXPECT_EQ(range_arguments_json(writer.bytes()), R"({"a": "three", "b": 2})");
}

TEST(RangeArguments, HostileTextsAreEscaped) {
  RangeArgumentsWriter writer;
  writer.add("External id\": 7, \"x", "\"}]}\n\0\xff</script>"sv);
  writer.add("", ""sv);
  const std::string json = range_arguments_json(writer.bytes());
  EXPECT_EQ(json,
            "{\"External id\\\": 7, \\\"x\": \"\\\"}]}\\n\\u0000\ufffd</script>\", \"\": \"\"}");
  std::string canonical;
  ASSERT_TRUE(wire::append_canonical_json(canonical, json));
  EXPECT_EQ(canonical, json);
}

TEST(RangeArguments, NumbersThatJsonHasNotAreTexts) {
  EXPECT_EQ(number_json(std::numeric_limits<double>::quiet_NaN()), "\"NaN\"");
  EXPECT_EQ(number_json(std::numeric_limits<double>::infinity()), "\"Infinity\"");
  EXPECT_EQ(number_json(-std::numeric_limits<double>::infinity()), "\"-Infinity\"");
}

TEST(RangeArguments, NumbersAreCanonicalAndExact) {
  for (const double value : {0.1, -0.0, 16.0, 1e300, 5e-324, 1.0 / 3, 123456789.125}) {
    const std::string json = number_json(value);
    std::string canonical;
    ASSERT_TRUE(wire::append_canonical_json(canonical, json));
    EXPECT_EQ(canonical, json);
    EXPECT_EQ(std::strtod(json.c_str(), nullptr), value);
  }
}

TEST(RangeArguments, WhatNoWriterWroteIsNothing) {
  EXPECT_EQ(range_arguments_json(""), "");
  RangeArgumentsWriter writer;
  writer.add("key", std::int64_t{1});
  writer.add("text", "value"sv);
  const std::string bytes(writer.bytes());
  const std::size_t first = 8 + 3 + 1 + 8;
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    EXPECT_EQ(range_arguments_json(std::string_view(bytes).substr(0, size)),
              size == first ? R"({"key": 1})" : "")
        << size;
  }
  std::string wrong_tag = bytes.substr(0, first);
  wrong_tag[8 + 3] = 9;
  EXPECT_EQ(range_arguments_json(wrong_tag), "");
}

}  // namespace
}  // namespace tbtrace::recorder
