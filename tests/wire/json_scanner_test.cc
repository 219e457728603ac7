// The scanner on proper JSON, where it must find what JsonIndex finds, and on JSON that is not.
#include "wire/json_scanner.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/json_positions.h"
#include "fixtures/random_json.h"
#include "fixtures/random_rounds.h"
#include "wire/json_index.h"

namespace tbtrace::wire {
namespace {

using fixtures::json_positions;
using fixtures::RandomJson;
using testing::ElementsAre;

/// What a scan found. `after` is where it left the caller's position.
struct Scan {
  ScanEnd end;
  std::size_t after;
  std::vector<std::uint32_t> positions;
};

Scan result_of(const JsonScanner& scanner, ScanEnd end, std::size_t after, std::size_t size) {
  const std::uint32_t* last = scanner.positions();
  while (*last < size) ++last;
  for (std::size_t number = 0; number < kJsonSentinels; ++number) EXPECT_EQ(last[number], size);
  return {end, after, {scanner.positions(), last}};
}

Scan scan_element(std::string_view text, bool last = true, std::size_t at = 0) {
  JsonScanner scanner;
  const ScanEnd end = scanner.scan_element(text, at, last);
  return result_of(scanner, end, at, text.size());
}

Scan scan_member(std::string_view text, bool last = true) {
  JsonScanner scanner;
  std::size_t at = 0;
  const ScanEnd end = scanner.scan_member(text, at, last);
  return result_of(scanner, end, at, text.size());
}

TEST(JsonScanner, FindsThePartsOfAnElement) {
  const std::string_view text = R"({"a": [1, "b"], "c": {}} , {"next": 1})";
  const Scan scan = scan_element(text);
  EXPECT_EQ(scan.end, ScanEnd::complete);
  EXPECT_EQ(text.substr(scan.after), R"(, {"next": 1})");
  EXPECT_THAT(scan.positions, ElementsAre(0, 1, 4, 6, 7, 8, 10, 13, 14, 16, 19, 21, 22, 23));
}

TEST(JsonScanner, FindsThePartsOfAMember) {
  const std::string_view text = R"("schemaVersion" : 1 , "x": 2})";
  const Scan scan = scan_member(text);
  EXPECT_EQ(scan.end, ScanEnd::complete);
  EXPECT_EQ(text.substr(scan.after), R"(, "x": 2})");
  EXPECT_THAT(scan.positions, ElementsAre(0, 16, 18));
}

TEST(JsonScanner, AMemberMayBeAnything) {
  for (const std::string value : {"1", "\"text\"", "{\"a\": {\"b\": []}}", "[1, [2]]", "null"}) {
    const std::string text = "\"key\": " + value;
    const Scan scan = scan_member(text);
    EXPECT_EQ(scan.end, ScanEnd::complete) << text;
    EXPECT_EQ(scan.after, text.size()) << text;
    EXPECT_EQ(scan.positions, json_positions(text)) << text;
  }
}

TEST(JsonScanner, StartsWhereItIsTold) {
  const std::string_view text = R"([{"a": 1}, {"b": 2}])";
  const Scan scan = scan_element(text, true, 11);
  EXPECT_EQ(scan.end, ScanEnd::complete);
  EXPECT_EQ(scan.after, 19U);
  EXPECT_THAT(scan.positions, ElementsAre(11, 12, 15, 17, 18));
}

TEST(JsonScanner, ValidValuesHaveThePositionsOfTheIndex) {
  for (unsigned seed = 0; seed < fixtures::random_rounds(20000u); ++seed) {
    const std::string text = RandomJson(seed).value(4);
    const Scan scan = scan_element(text);
    ASSERT_EQ(scan.end, ScanEnd::complete) << text;
    ASSERT_EQ(scan.after, text.size()) << text;
    ASSERT_EQ(scan.positions, json_positions(text)) << text;
  }
}

TEST(JsonScanner, ValidEventsInAnArrayAreToldApart) {
  for (unsigned seed = 0; seed < fixtures::random_rounds(5000u); ++seed) {
    RandomJson random(seed);
    std::vector<std::string> events;
    std::string text;
    for (int number = 0; number < 4; ++number) {
      events.push_back(random.object(3));
      text += (number > 0 ? "," : "") + random.blanks();
      text += events.back() + random.blanks();
    }
    text += "]\n}";
    std::size_t at = 0;
    for (const std::string& event : events) {
      at = text.find('{', at);
      const std::size_t start = at;
      JsonScanner scanner;
      ASSERT_EQ(scanner.scan_element(text, at, false), ScanEnd::complete) << text;
      ASSERT_EQ(text.compare(start, event.size(), event), 0) << text;
      ASSERT_EQ(text.find_first_not_of(" \t\r\n", start + event.size()), at) << text;
    }
  }
}

// Otherwise a reader would give up an event for good because it has not read far enough.
TEST(JsonScanner, AValidEventThatIsCutIsIncomplete) {
  for (unsigned seed = 0; seed < fixtures::random_rounds(2000u); ++seed) {
    const std::string text = RandomJson(seed).object(3);
    for (std::size_t size = 0; size < text.size(); ++size) {
      ASSERT_EQ(scan_element(std::string_view(text).substr(0, size), false).end,
                ScanEnd::incomplete)
          << text << " at " << size;
    }
  }
}

TEST(JsonScanner, AnIncompleteScanLeavesThePosition) {
  const Scan scan = scan_element("  {\"a\": 1", false, 2);
  EXPECT_EQ(scan.end, ScanEnd::incomplete);
  EXPECT_EQ(scan.after, 2U);
}

TEST(JsonScanner, ANumberMayGoOnInTheNextText) {
  EXPECT_EQ(scan_element("12", false).end, ScanEnd::incomplete);
  EXPECT_EQ(scan_element("12", true).end, ScanEnd::complete);
  EXPECT_EQ(scan_element("12,", false).end, ScanEnd::complete);
}

TEST(JsonScanner, RefusesWhatMakesNoSense) {
  for (const std::string text :
       {"}", "]", ",", ":", "{]", "[}", "{1: 2}", "{\"a\" 1}", "{\"a\": 1 2}", "[1 2]",
        "{\"a\": 1, 2}", "{\"a\": :}", "[,]", "{\"a\": 1,, \"b\": 2}", "{{}}", "[{} {}]", "{[]}",
        "{\"a\": {} {}}"}) {
    EXPECT_EQ(scan_element(text).end, ScanEnd::broken) << text;
  }
}

TEST(JsonScanner, TakesControlCharactersAndBytesThatAreNoUtf8) {
  const std::string_view text = "{\"a\": \"line\nbreak \xff\x01\", \"b\": 1}";
  const Scan scan = scan_element(text);
  EXPECT_EQ(scan.end, ScanEnd::complete);
  EXPECT_THAT(scan.positions, ElementsAre(0, 1, 4, 6, 21, 23, 26, 28, 29));
}

TEST(JsonScanner, TakesUnescapedQuotesInValues) {
  const std::string_view text = R"({"a": "say "hi" to", "b": "x"y", "c": ["p"q", "r"]})";
  const Scan scan = scan_element(text);
  ASSERT_EQ(scan.end, ScanEnd::complete);
  EXPECT_EQ(scan.after, text.size());
  EXPECT_THAT(scan.positions,
              ElementsAre(0, 1, 4, 6, 19, 21, 24, 26, 31, 33, 36, 38, 39, 44, 46, 49, 50));
}

TEST(JsonScanner, AStackEndsLikeOtherStringsWhereQuotesAreEscaped) {
  // The next stack has the end that Kineto's have.
  const std::string text = R"([{"Call stack": "a.py(1): f"}, {"Call stack": "b.py(2): g;"}])";
  const Scan scan = scan_element(text);
  EXPECT_EQ(scan.end, ScanEnd::complete);
  EXPECT_EQ(scan.positions, json_positions(text));
}

TEST(JsonScanner, AnEmptyStackEndsAtOnce) {
  const std::string text = R"({"Call stack": "", "n": "x;"})";
  const Scan scan = scan_element(text);
  EXPECT_EQ(scan.end, ScanEnd::complete);
  EXPECT_EQ(scan.positions, json_positions(text));
}

TEST(JsonScanner, ScansAgainAfterAnyEnd) {
  JsonScanner scanner;
  std::size_t at = 0;
  EXPECT_EQ(scanner.scan_element("[[[[", at, true), ScanEnd::incomplete);
  EXPECT_EQ(scanner.scan_element("}", at, true), ScanEnd::broken);
  EXPECT_EQ(scanner.scan_element("{}", at, true), ScanEnd::complete);
  EXPECT_EQ(at, 2U);
  EXPECT_EQ(scanner.positions()[1], 1U);
}

TEST(JsonScanner, DepthIsNotLimited) {
  const std::string text = std::string(100000, '[') + std::string(100000, ']');
  EXPECT_EQ(scan_element(text).end, ScanEnd::complete);
}

}  // namespace
}  // namespace tbtrace::wire
