// Arguments of events as typed columns of the model.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/chrome_text.h"
#include "fixtures/read_text.h"
#include "fixtures/reading_ways.h"

namespace tbtrace::readers {
namespace {

using fixtures::ChromeEvent;
using fixtures::issue_counts;
using fixtures::names;
using fixtures::op;
using fixtures::trace_text;
using testing::ElementsAre;

constexpr EventId kOnlyEvent = EventId{0};

Trace read_all(const std::vector<ChromeEvent>& events) {
  return fixtures::read(trace_text(events), {.threads = 1, .arguments = ArgumentSet::all()});
}

std::string key_of(Argument argument) { return std::string(argument_row(argument).keys[0]); }

/// A trace of one event with this argument.
Trace with(Argument argument, std::string_view json) {
  return read_all({op("a").arg(key_of(argument), json)});
}

std::vector<Argument> columns_of(ArgumentType type) {
  std::vector<Argument> columns;
  for (std::size_t row = 0; row < kArgumentCount; ++row) {
    const bool is_id = kArgumentRows[row].group == ArgumentGroup::row;
    const bool is_of_memory = kArgumentRows[row].group == ArgumentGroup::allocations;
    if (is_id || is_of_memory || kArgumentRows[row].type != type) continue;
    columns.push_back(static_cast<Argument>(row));
  }
  return columns;
}

TEST(ChromeArguments, OfIntegersAreRead) {
  const std::vector<std::pair<std::string_view, std::int64_t>> values = {
      {"0", 0},
      {"7", 7},
      {"-3", -3},
      {"\"7\"", 7},
      {"7.0", 7},
      {"2147483647", 2'147'483'647},
      {"2147483648", 2'147'483'648},
      {"-2147483649", -2'147'483'649},
      {"9223372036854775807", std::numeric_limits<std::int64_t>::max()},
      {"-9223372036854775808", std::numeric_limits<std::int64_t>::min()},
      {"18446744073709551615", -1},  // communicators are unsigned
  };
  for (const Argument argument : columns_of(ArgumentType::integer)) {
    for (const auto& [json, expected] : values) {
      const Trace trace = with(argument, json);
      EXPECT_EQ(trace.argument(argument).integer(kOnlyEvent), expected) << key_of(argument) << json;
      EXPECT_EQ(trace.argument(argument).size(), 1u);
      EXPECT_EQ(issue_counts(trace), "") << json;
    }
  }
}

TEST(ChromeArguments, OfIntegersThatAreUnreadableAreCountedAndLeftOut) {
  for (const std::string_view json :
       {"1.5", "\"x\"", "[1]", "{}", "true", "\"\"", "99999999999999999999999", "NaN"}) {
    const Trace trace = with(Argument::stream, json);
    EXPECT_TRUE(trace.argument(Argument::stream).empty()) << json;
    EXPECT_EQ(issue_counts(trace), "argument_unreadable 1") << json;
    EXPECT_THAT(names(trace), ElementsAre("a")) << "the event stays";
  }
}

TEST(ChromeArguments, OfRealsAreRead) {
  const std::vector<std::pair<std::string_view, double>> values = {
      {"0", 0}, {"12.5", 12.5}, {"-0.25", -0.25}, {"1e3", 1000}, {"0.1", 0.1}, {"100", 100}};
  for (const Argument argument : columns_of(ArgumentType::real)) {
    for (const auto& [json, expected] : values) {
      const Trace trace = with(argument, json);
      EXPECT_EQ(trace.argument(argument).real(kOnlyEvent), expected) << key_of(argument) << json;
      EXPECT_EQ(issue_counts(trace), "") << json;
    }
  }
}

TEST(ChromeArguments, OfRealsThatKinetoDoesNotKnowAreAbsent) {
  for (const std::string_view json : {"\"N/A\"", "\"inf\"", "\"\"", "null"}) {
    const Trace trace = with(Argument::bandwidth, json);
    EXPECT_TRUE(trace.argument(Argument::bandwidth).empty()) << json;
    EXPECT_EQ(issue_counts(trace), "") << json;
  }
  for (const std::string_view json : {"[1]", "true", "NaN", "Infinity", "1e999"}) {
    const Trace trace = with(Argument::bandwidth, json);
    EXPECT_TRUE(trace.argument(Argument::bandwidth).empty()) << json;
    EXPECT_EQ(issue_counts(trace), "argument_unreadable 1") << json;
  }
}

TEST(ChromeArguments, OfTextsAreTheirMeaning) {
  for (const Argument argument : columns_of(ArgumentType::text)) {
    const Trace trace = with(argument, R"("a \"b\"\u00e9")");
    EXPECT_EQ(trace.argument_text(kOnlyEvent, argument), "a \"b\"\u00e9") << key_of(argument);
    EXPECT_EQ(issue_counts(trace), "");
    const Trace empty = with(argument, "\"\"");
    EXPECT_TRUE(empty.argument(argument).empty());
  }
}

TEST(ChromeArguments, OfJsonHaveOneTextForAllTextsOfAValue) {
  for (const Argument argument : columns_of(ArgumentType::json)) {
    for (const std::string_view json :
         {R"([[2, 3], [], ["\"x\"", null, 0.5]])", R"([[2,3],[],["\"x\"",null,0.5]])",
          "[\n  [\n    2,\n    3\n  ],\n  [],\n  [\"\\\"x\\\"\", null, 0.5]\n]",
          "[\t[2,\t3],[\r\n],[\"\\u0022\\u0078\\\"\", null ,0.50 ]]",
          R"([[2.0, 3e0], [], ["\"x\"", null, 5E-1]])",
          R"([[0.2e1, 30e-1], [], ["\"x\"", null, 50e-2]])",
          R"("[[2,3], [], [\"\\\"x\\\"\", null, 0.5]]")"}) {
      const Trace trace = with(argument, json);
      EXPECT_EQ(trace.argument_text(kOnlyEvent, argument), R"([[2, 3], [], ["\"x\"", null, 0.5]])")
          << key_of(argument) << json;
      EXPECT_EQ(issue_counts(trace), "");
    }
  }
}

TEST(ChromeArguments, OfJsonThatIsNotJsonStay) {
  for (const std::string_view text : {"[1,2", "[ 01 ]", "[[2 , 3]], []", "relu", "\t"}) {
    const Trace trace = read_all(
        {op("a").arg("Input Dims", "\"" + std::string(text == "\t" ? "\\t" : text) + "\"")});
    EXPECT_EQ(trace.argument_text(kOnlyEvent, Argument::input_dims), text);
  }
}

TEST(ChromeArguments, OfTextsThatAreOtherValuesHaveOneText) {
  for (const std::string_view json : {"[0, 1]", "[0,1]", "[\n0.0,\t1e0]", "[-0, 10e-1]"}) {
    const Trace trace = with(Argument::group_ranks, json);
    EXPECT_EQ(trace.argument_text(kOnlyEvent, Argument::group_ranks), "[0, 1]") << json;
  }
  const Trace text = with(Argument::group_ranks, "\"[0,1]\"");
  EXPECT_EQ(text.argument_text(kOnlyEvent, Argument::group_ranks), "[0,1]")
      << "a text stays as it is";
}

TEST(ChromeArguments, OfRealNumbersHaveNoNegativeZero) {
  for (const std::string_view json : {"0", "-0", "-0.0", "-0e5"}) {
    const Trace trace = with(Argument::occupancy, json);
    const std::optional<double> value = trace.argument(Argument::occupancy).real(kOnlyEvent);
    ASSERT_TRUE(value) << json;
    EXPECT_FALSE(std::signbit(*value)) << json;
  }
}

TEST(ChromeArguments, OfThreeSizesMayNameFewer) {
  const std::vector<std::pair<std::string_view, Dim3>> values = {
      {"[864, 1, 1]", {864, 1, 1}},
      {"[1,2,3]", {1, 2, 3}},
      {"[7]", {7, 1, 1}},
      {"[7, 8]", {7, 8, 1}},
      {" [ 7 , 8 ] ", {7, 8, 1}},
      {"[864.0, 1e3, 20e-1]", {864, 1000, 2}},
      {"\"[864.0,1.0]\"", {864, 1, 1}},
      {"[\n\t7,\r\n8\n]", {7, 8, 1}},
      {"[-0, 1, 1]", {0, 1, 1}},
      {"[0, 0, 0]", {0, 0, 0}},
      {"[4294967295, 1, 1]", {4'294'967'295, 1, 1}}};
  for (const Argument argument : columns_of(ArgumentType::dim3)) {
    for (const auto& [json, expected] : values) {
      const Trace trace = with(argument, json);
      EXPECT_EQ(trace.argument(argument).dim3(kOnlyEvent), expected) << key_of(argument) << json;
      EXPECT_EQ(issue_counts(trace), "") << json;
    }
  }
}

TEST(ChromeArguments, OfThreeSizesThatAreUnreadableAreCountedAndLeftOut) {
  for (const std::string_view json : {"[]", "[1,2,3,4]", "[-1]", "[1.5]", "[4294967296]", "7",
                                      "[1,]", "[\"1\"]", "{}", "[[1]]", "[1 2]", "\"[1,02]\""}) {
    const Trace trace = with(Argument::grid, json);
    EXPECT_TRUE(trace.argument(Argument::grid).empty()) << json;
    EXPECT_EQ(issue_counts(trace), "argument_unreadable 1") << json;
  }
}

TEST(ChromeArguments, ThatAreNullAreAbsent) {
  for (std::size_t row = 0; row < kArgumentCount; ++row) {
    const Trace trace = with(static_cast<Argument>(row), "null");
    EXPECT_TRUE(trace.argument(static_cast<Argument>(row)).empty()) << kArgumentRows[row].name;
    EXPECT_EQ(issue_counts(trace), "");
  }
}

/// An event with a value of every argument.
ChromeEvent with_everything(std::string_view name) {
  ChromeEvent event = op(name);
  for (std::size_t row = 0; row < kArgumentCount; ++row) {
    constexpr std::string_view kValues[] = {"5", "2.5", "\"text\"", "[[1]]", "[1, 2]", "\"mark\""};
    const ArgumentRow& each = kArgumentRows[row];
    if (each.group == ArgumentGroup::row) continue;
    event.arg(each.keys[0], kValues[static_cast<std::size_t>(each.type)]);
  }
  return event;
}

bool is_always_read(const ArgumentRow& row) { return row.group == ArgumentGroup::steps; }

TEST(ChromeArguments, ThatNobodyAskedForAreNotKept) {
  const std::string text =
      trace_text({op("bare"), with_everything("a"), op("bare"), with_everything("b")});
  for (std::size_t row = 0; row < kArgumentCount; ++row) {
    const auto wanted = static_cast<Argument>(row);
    if (kArgumentRows[row].group == ArgumentGroup::row) continue;
    if (kArgumentRows[row].group == ArgumentGroup::allocations) continue;
    const Trace trace = fixtures::read(text, {.threads = 1, .arguments = {wanted}});
    for (std::size_t other = 0; other < kArgumentCount; ++other) {
      const bool is_read = other == row || is_always_read(kArgumentRows[other]);
      EXPECT_EQ(trace.argument(static_cast<Argument>(other)).size(), is_read ? 2u : 0u)
          << kArgumentRows[other].name << " where " << kArgumentRows[row].name << " was asked for";
    }
  }
}

TEST(ChromeArguments, AreThoseOfOperatorsByDefault) {
  const Trace trace = fixtures::read(trace_text({with_everything("a")}));
  for (std::size_t row = 0; row < kArgumentCount; ++row) {
    const auto which = static_cast<Argument>(row);
    EXPECT_EQ(trace.argument(which).has(kOnlyEvent),
              kOperatorArguments.contains(which) || is_always_read(kArgumentRows[row]))
        << kArgumentRows[row].name;
  }
}

TEST(ChromeArguments, AreTheSameInEveryWayToRead) {
  std::vector<ChromeEvent> events;
  for (int row = 0; row < 60; ++row) {
    ChromeEvent event = row % 3 == 0 ? op("bare") : with_everything("op " + std::to_string(row));
    if (row % 4 == 0) event.arg("stream", row % 8 == 0 ? "5000000000" : std::to_string(row));
    if (row % 5 == 0) event.arg("grid", "[" + std::to_string(row) + "]");
    events.push_back(event);
  }
  EXPECT_EQ(fixtures::difference_between(trace_text(events), fixtures::reading_ways(),
                                         {.arguments = ArgumentSet::all()}),
            "");
}

ChromeEvent memory(std::string_view time, std::string_view address, std::string_view reserved) {
  ChromeEvent event = op("[memory]", time).with("ph", "\"i\"").without("dur");
  event.arg("Bytes", time);
  if (!address.empty()) event.arg("Addr", address);
  if (!reserved.empty()) event.arg("Total Reserved", reserved);
  return event;
}

TEST(ChromeArguments, OfMemoryRecordsStayWithThemWhenTheyAreSorted) {
  const Trace trace = read_all({memory("30", "140368640000001", "300"), op("a"),
                                memory("10", "", "100"), memory("20", "140368640000002", ""),
                                memory("40", "", ""), memory("5", "18446744073709551615", "0")});
  const ArgumentColumn& address = trace.memory_argument(Argument::address);
  const ArgumentColumn& reserved = trace.memory_argument(Argument::total_reserved);
  ASSERT_EQ(trace.memory().size(), 5u);
  std::vector<std::int64_t> bytes;
  for (const MemoryRecord& record : trace.memory()) bytes.push_back(record.bytes);
  ASSERT_THAT(bytes, ElementsAre(5, 10, 20, 30, 40));
  const auto values = [](const ArgumentColumn& column) {
    std::vector<std::optional<std::int64_t>> found;
    for (std::size_t record = 0; record < 5; ++record) found.push_back(column.integer(record));
    return found;
  };
  EXPECT_THAT(values(address), ElementsAre(-1, std::nullopt, 140'368'640'000'002,
                                           140'368'640'000'001, std::nullopt));
  EXPECT_THAT(values(reserved), ElementsAre(0, 100, std::nullopt, 300, std::nullopt));
  EXPECT_TRUE(trace.argument(Argument::address).empty()) << "events have none";
  const Trace without = fixtures::read(trace_text({memory("1", "2", "3")}));
  EXPECT_TRUE(without.memory_argument(Argument::address).empty()) << "nobody asked";
}

TEST(ChromeArguments, AreReadOfRangesOnlyIfTheyAreNotOfAllocations) {
  const Trace trace = read_all(
      {op("a").arg("Addr", "5").arg("stream", "7"), memory("1", "6", "").arg("stream", "8")});
  EXPECT_TRUE(trace.argument(Argument::address).empty());
  EXPECT_EQ(trace.argument(Argument::stream).integer(kOnlyEvent), 7);
  EXPECT_EQ(trace.memory_argument(Argument::address).integer(std::size_t{0}), 6);
  EXPECT_TRUE(trace.memory_argument(Argument::stream).empty());
}

}  // namespace
}  // namespace tbtrace::readers
