// The two layouts of Kineto's C++ writer, which escapes nothing.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "wire/json_scanner.h"

namespace tbtrace::wire {
namespace {

std::string line_event(std::string_view name) {
  return "{\n    \"ph\": \"X\",\n    \"cat\": \"cpu_op\",\n    \"name\": \"" + std::string(name) +
         "\",\n    \"pid\": 1,\n    \"tid\": 2,\n    \"ts\": 3.000,\n    \"dur\": 4.000,\n"
         "    \"args\": {\n      \"External id\": 5,\n      \"Ev Idx\": 6\n    }\n  }";
}

std::string inline_event(std::string_view name) {
  return "{\n    \"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"" + std::string(name) +
         "\", \"pid\": 1, \"tid\": 2,\n    \"ts\": 3.000, \"dur\": 4.000,\n"
         "    \"args\": {\n      \"External id\": 5,\"Ev Idx\": 6\n    }\n  }";
}

/// Names with quotes in all the ways that could end a string.
const std::vector<std::string> kNames = {
    "plain",
    "say \"hi\"",
    "\"",
    "\"\"\"",
    "a\", \"b\": \"c",
    "a\", \"pid\": 7, \"tid\": 8",
    "x\", \"cat\": \"kernel\"}, {\"ph\": \"X",
    "ends with a quote\"",
    "\"starts with one",
    "comma\",",
    "brackets \"}]\" {[",
    "backslash \\ and \\\" and \\",
    "",
};

/// The text of the value whose key stands at part `number` of the positions.
std::string_view value_at(const JsonScanner& scanner, std::string_view text, std::size_t number) {
  const std::size_t start = scanner.positions()[number + 2];
  std::string_view value = text.substr(start, scanner.positions()[number + 3] - start);
  while (!value.empty() && (value.back() == ' ' || value.back() == '\n')) value.remove_suffix(1);
  return value;
}

/// The value of a key of an event, quotes included.
std::optional<std::string_view> value_of(const JsonScanner& scanner, std::string_view text,
                                         std::string_view key) {
  for (std::size_t number = 0; scanner.positions()[number] < text.size(); ++number) {
    const std::size_t at = scanner.positions()[number];
    if (text.substr(at).starts_with("\"" + std::string(key) + "\":")) {
      return value_at(scanner, text, number);
    }
  }
  return std::nullopt;
}

void expect_name(Quoting quoting, const std::string& event, const std::string& name) {
  for (const std::string tail : {"", ",\n  ", "\n  ],\n", ",\n  {\n    \"ph\": \"X\""}) {
    const std::string text = event + tail;
    JsonScanner scanner(quoting);
    std::size_t at = 0;
    ASSERT_EQ(scanner.scan_element(text, at, true), ScanEnd::complete) << text;
    EXPECT_EQ(value_of(scanner, text, "name"), "\"" + name + "\"") << text;
    EXPECT_EQ(value_of(scanner, text, "tid"), "2") << text;
    EXPECT_EQ(value_of(scanner, text, "Ev Idx"), "6") << text;
    EXPECT_GE(at, event.size());
  }
}

TEST(JsonScannerKineto, ANameEndsWithItsLine) {
  for (const std::string& name : kNames) {
    expect_name(Quoting::kineto_lines, line_event(name), name);
  }
}

TEST(JsonScannerKineto, ANameEndsBeforeTheLastPidOfItsLine) {
  for (const std::string& name : kNames) {
    expect_name(Quoting::kineto_inline, inline_event(name), name);
  }
}

TEST(JsonScannerKineto, ALineWithoutItsEndIsIncomplete) {
  for (const Quoting quoting : {Quoting::kineto_lines, Quoting::kineto_inline}) {
    for (const std::string& name : kNames) {
      const std::string event =
          quoting == Quoting::kineto_lines ? line_event(name) : inline_event(name);
      for (std::size_t size = 0; size < event.size(); ++size) {
        JsonScanner scanner(quoting);
        std::size_t at = 0;
        EXPECT_EQ(scanner.scan_element(std::string_view(event).substr(0, size), at, false),
                  ScanEnd::incomplete)
            << event.substr(0, size);
        EXPECT_EQ(at, 0U);
      }
    }
  }
}

TEST(JsonScannerKineto, TheRuleIsForNamesOfEventsOnly) {
  const std::string text =
      "{\n    \"ph\": \"M\",\n    \"name\": \"process_name\",\n    \"pid\": 1,\n    \"args\": {\n"
      "      \"name\": \"python\", \"other\": \"x\"\n    }\n  }";
  JsonScanner scanner(Quoting::kineto_lines);
  std::size_t at = 0;
  ASSERT_EQ(scanner.scan_element(text, at, true), ScanEnd::complete);
  EXPECT_EQ(value_of(scanner, text, "name"), "\"process_name\"");
  EXPECT_EQ(value_of(scanner, text, "other"), "\"x\"");
}

TEST(JsonScannerKineto, ANameThatIsFollowedByNoPidEndsLikeAnyString) {
  const std::string text = "{\n    \"name\": \"a\", \"ph\": \"s\", \"id\": 5\n  }";
  JsonScanner scanner(Quoting::kineto_inline);
  std::size_t at = 0;
  ASSERT_EQ(scanner.scan_element(text, at, true), ScanEnd::complete);
  EXPECT_EQ(value_of(scanner, text, "name"), "\"a\"");
  EXPECT_EQ(value_of(scanner, text, "id"), "5");
}

TEST(JsonScannerKineto, TopLevelValuesEndWithTheirLine) {
  for (const Quoting quoting : {Quoting::kineto_lines, Quoting::kineto_inline}) {
    for (const std::string& name : kNames) {
      for (const std::string tail : {",\n  \"next\": 1", "\n}", ",  \r\n}"}) {
        const std::string text = "\"traceName\": \"" + name + "\"" + tail;
        JsonScanner scanner(quoting);
        std::size_t at = 0;
        ASSERT_EQ(scanner.scan_member(text, at, true), ScanEnd::complete) << text;
        EXPECT_EQ(at, text.find_first_not_of(" \r\n", 15 + name.size())) << text;
        EXPECT_EQ(scanner.positions()[2], 13U);
        EXPECT_EQ(scanner.positions()[3], text.size());
      }
    }
  }
}

TEST(JsonScannerKineto, TopLevelObjectsAreProperJson) {
  const std::string text =
      "\"deviceProperties\": [\n    {\n      \"id\": 0, \"name\": \"NVIDIA H200\"\n    }\n  ],\n";
  JsonScanner scanner(Quoting::kineto_lines);
  std::size_t at = 0;
  ASSERT_EQ(scanner.scan_member(text, at, true), ScanEnd::complete);
  EXPECT_EQ(text.substr(at), ",\n");
  EXPECT_NE(value_of(scanner, text, "name"), std::nullopt);
}

TEST(JsonScannerKineto, TheLastLineNeedsNoNewline) {
  const std::string text = "\"traceName\": \"a \"b\" c\"";
  JsonScanner scanner(Quoting::kineto_lines);
  std::size_t at = 0;
  EXPECT_EQ(scanner.scan_member(text, at, false), ScanEnd::incomplete);
  EXPECT_EQ(scanner.scan_member(text, at, true), ScanEnd::complete);
  EXPECT_EQ(at, text.size());
}

TEST(JsonScannerKineto, QuotingMayChangeBetweenScans) {
  const std::string text = "{\n  \"name\": \"a\", \"b\": \"c\",\n  \"d\": 1\n}";
  JsonScanner scanner;
  std::size_t at = 0;
  ASSERT_EQ(scanner.scan_element(text, at, true), ScanEnd::complete);
  EXPECT_EQ(value_of(scanner, text, "name"), "\"a\"");
  scanner.set_quoting(Quoting::kineto_lines);
  at = 0;
  ASSERT_EQ(scanner.scan_element(text, at, true), ScanEnd::complete);
  EXPECT_EQ(value_of(scanner, text, "name"), "\"a\", \"b\": \"c\"");
}

TEST(KinetoScanner, FramesOfAStackMayHoldWhatLooksLikeMembers) {
  const std::string stack = R"(a.py(1): f("x", "y": 2);b.py(2): g;)";
  const std::string text = R"({"Call stack": ")" + stack + R"(", "n": 1})";
  for (const Quoting quoting : {Quoting::kineto_lines, Quoting::kineto_inline}) {
    JsonScanner scanner(quoting);
    std::size_t at = 0;
    ASSERT_EQ(scanner.scan_element(text, at, true), ScanEnd::complete);
    EXPECT_EQ(at, text.size());
    EXPECT_EQ(text.substr(scanner.positions()[5]), R"("n": 1})");
  }
}

}  // namespace
}  // namespace tbtrace::wire
