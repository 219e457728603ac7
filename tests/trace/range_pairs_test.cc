// Ranges that are begun and ended by rows of their own (`B` and `E`).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/trace.h>

#include "fixtures/random_rounds.h"
#include "fixtures/read_text.h"
#include "fixtures/reading_ways.h"

namespace tbtrace {
namespace {

using fixtures::issue_counts;
using fixtures::names;
using fixtures::read;
using testing::ElementsAre;

/// A row of a file; times in microseconds.
struct Row {
  char phase = 'B';
  std::string name = {};  ///< of an end: empty if it has none
  int time = 0;
  int thread = 1;
  std::string arguments = {};
  int duration = 0;  ///< of a row with phase X
};

std::string text_of(const std::vector<Row>& rows) {
  std::string text = "[";
  for (const Row& row : rows) {
    if (text.size() > 1) text += ',';
    text += R"({"ph":")" + std::string(1, row.phase) + R"(","ts":)" + std::to_string(row.time) +
            R"(,"pid":1,"tid":)" + std::to_string(row.thread);
    if (!row.name.empty()) text += R"(,"name":")" + row.name + '"';
    if (row.phase == 'X') text += ",\"dur\":" + std::to_string(row.duration);
    if (!row.arguments.empty()) text += ",\"args\":{" + row.arguments + "}";
    text += "}";
  }
  return text + "]";
}

/// `name start+duration`, a `?` after those without an end, in the order of the file.
std::vector<std::string> ranges(const Trace& trace) {
  std::vector<std::string> ranges;
  const Events& events = trace.events();
  for (std::size_t row = 0; row < events.size(); ++row) {
    const auto event = static_cast<EventId>(row);
    ranges.push_back(
        std::string(trace.name(event)) + ' ' + std::to_string(events.start_ns(event) / 1000) + '+' +
        std::to_string(events.duration_ns(event) / 1000) + (events.unfinished(event) ? "?" : ""));
  }
  return ranges;
}

TEST(RangePairs, EndTheRangeThatBeganLast) {
  const Trace trace =
      read(text_of({{'B', "outer", 1}, {'B', "inner", 2}, {'E', "", 5}, {'E', "", 9}}));
  EXPECT_THAT(ranges(trace), ElementsAre("outer 1+8", "inner 2+3"));
  EXPECT_EQ(issue_counts(trace), "");
}

TEST(RangePairs, EndTheRangeOfTheirNameIfTheyHaveOne) {
  const Trace trace = read(text_of({{'B', "a", 1}, {'B', "b", 2}, {'E', "a", 5}, {'E', "b", 9}}));
  EXPECT_THAT(ranges(trace), ElementsAre("a 1+4", "b 2+7"));
  EXPECT_EQ(issue_counts(trace), "");
  const Trace same = read(text_of({{'B', "a", 1}, {'B', "a", 2}, {'E', "a", 5}, {'E', "a", 9}}));
  EXPECT_THAT(ranges(same), ElementsAre("a 1+8", "a 2+3")) << "the last begun of that name";
}

TEST(RangePairs, WithAndWithoutNamesMayBeMixed) {
  const Trace trace = read(text_of(
      {{'B', "a", 1}, {'B', "b", 2}, {'B', "c", 3}, {'E', "b", 4}, {'E', "", 5}, {'E', "", 6}}));
  EXPECT_THAT(ranges(trace), ElementsAre("a 1+5", "b 2+2", "c 3+2"));
  EXPECT_EQ(issue_counts(trace), "");
}

TEST(RangePairs, AreFoundInAnyOrderOfTheFile) {
  const Trace trace =
      read(text_of({{'E', "", 9}, {'B', "inner", 2}, {'E', "", 5}, {'B', "outer", 1}}));
  EXPECT_THAT(ranges(trace), ElementsAre("inner 2+3", "outer 1+8"));
  EXPECT_EQ(issue_counts(trace), "");
}

TEST(RangePairs, AtOneTimeAreInTheOrderOfTheFile) {
  EXPECT_THAT(ranges(read(text_of({{'B', "a", 1}, {'E', "", 1}, {'B', "b", 1}, {'E', "", 4}}))),
              ElementsAre("a 1+0", "b 1+3"));
  EXPECT_THAT(ranges(read(text_of({{'B', "a", 1}, {'B', "b", 1}, {'E', "", 1}, {'E', "", 4}}))),
              ElementsAre("a 1+3", "b 1+0"));
}

TEST(RangePairs, AreOfOneThread) {
  const Trace trace =
      read(text_of({{'B', "a", 1, 1}, {'B', "b", 2, 2}, {'E', "", 3, 1}, {'E', "", 7, 2}}));
  EXPECT_THAT(ranges(trace), ElementsAre("a 1+2", "b 2+5"));
  const Trace crossed = read(text_of({{'B', "a", 1, 1}, {'E', "a", 3, 2}}));
  EXPECT_EQ(issue_counts(crossed), "range_not_ended 1, range_end_unmatched 1");
}

TEST(RangePairs, WithoutABeginningAreCountedAndSkipped) {
  for (const std::vector<Row>& rows : {std::vector<Row>{{'E', "", 5}},
                                       {{'E', "a", 1}, {'B', "a", 2}, {'E', "a", 3}},
                                       {{'B', "a", 1}, {'E', "b", 2}, {'E', "a", 3}},
                                       {{'B', "a", 1}, {'E', "", 2}, {'E', "", 3}}}) {
    const Trace trace = read(text_of(rows));
    EXPECT_EQ(issue_counts(trace), "range_end_unmatched 1") << text_of(rows);
    EXPECT_EQ(trace.issues()[0].severity, Severity::data_loss);
    for (const std::string& range : ranges(trace)) EXPECT_FALSE(range.ends_with('?'));
  }
}

TEST(RangePairs, WithoutAnEndAreOpenUntilTheLastTime) {
  const Trace trace =
      read(text_of({{'B', "open", 1}, {'B', "a", 2}, {'E', "a", 3}, {'X', "last", 10, 5, "", 7}}));
  EXPECT_THAT(ranges(trace), ElementsAre("open 1+16?", "a 2+1", "last 10+7"));
  EXPECT_EQ(issue_counts(trace), "range_not_ended 1");
  EXPECT_EQ(trace.issues()[0].severity, Severity::info);
  EXPECT_THAT(ranges(read(text_of({{'B', "open", 1}, {'B', "a", 2, 2}, {'E', "a", 30, 2}}))),
              ElementsAre("open 1+29?", "a 2+28"));
}

TEST(RangePairs, HaveTheArgumentsOfBothRows) {
  const Trace trace = read(text_of(
      {{'B', "a", 1, 1, R"("External id":5,"Sequence number":7,"Input Dims":[[1]],"finished":"x")"},
       {'B', "b", 2, 1, R"("External id":6)"},
       {'E', "", 3, 1, R"("correlation":8,"Call stack":"f;")"},
       {'E', "", 4, 1, R"("Sequence number":9,"External id":50)"}}));
  ASSERT_THAT(names(trace), ElementsAre("a", "b"));
  const EventId a{0};
  const EventId b{1};
  EXPECT_EQ(trace.external_id(a), 50) << "those of the end win";
  EXPECT_EQ(trace.argument(Argument::sequence_number).integer(a), 9);
  EXPECT_EQ(trace.argument_text(a, Argument::input_dims), "[[1]]");
  EXPECT_EQ(trace.external_id(b), 6);
  EXPECT_EQ(trace.correlation(b), 8);
  EXPECT_EQ(trace.argument_text(b, Argument::call_stack), "f;");
  EXPECT_FALSE(trace.argument(Argument::call_stack).has(a));
}

TEST(RangePairs, HaveAnExternalIdOfZeroIfTheirEndSaysSo) {
  const Trace trace = read(text_of({{'B', "a", 1, 1, R"("External id":0)"},
                                    {'B', "b", 2, 1, R"("External id":6)"},
                                    {'B', "c", 3, 1, R"("External id":0)"},
                                    {'E', "", 4, 1, R"("External id":null)"},
                                    {'E', "", 5, 1, R"("External id":0)"},
                                    {'E', "", 6, 1, R"("External id":7)"}}));
  const EventId a{0};
  const EventId b{1};
  const EventId c{2};
  EXPECT_EQ(trace.external_id(a), 7);
  EXPECT_FALSE(trace.events().has_zero_external_id(a));
  EXPECT_EQ(trace.external_id(b), 0);
  EXPECT_TRUE(trace.events().has_zero_external_id(b));
  EXPECT_TRUE(trace.events().has_zero_external_id(c));
}

TEST(RangePairs, LeaveOtherRangesAlone) {
  const Trace trace = read(text_of({{'X', "x", 1, 1, "\"External id\":3", 2},
                                    {'B', "b", 1},
                                    {'E', "b", 2},
                                    {'X', "b", 1, 1, "", 20},
                                    {'E', "b", 3}}));
  EXPECT_THAT(ranges(trace), ElementsAre("x 1+2", "b 1+1", "b 1+20"));
  EXPECT_EQ(trace.external_id(EventId{0}), 3);
  EXPECT_EQ(issue_counts(trace), "range_end_unmatched 1");
}

TEST(RangePairs, TakePartInTheWindowAndTheOrderByStart) {
  const Trace trace = read(text_of({{'X', "x", 5, 1, "", 1}, {'B', "b", 2}, {'E', "b", 9}}));
  EXPECT_EQ(trace.window_start_ns(), 2'000);
  EXPECT_EQ(trace.window_end_ns(), 9'000);
  EXPECT_THAT(trace.by_start(), ElementsAre(EventId{1}, EventId{0}));
}

/// What the rules say, by looking at every open range for every end.
struct ByDefinition {
  std::vector<std::string> ranges;
  std::uint64_t not_ended = 0;
  std::uint64_t unmatched = 0;
};

ByDefinition paired_by_definition(const std::vector<Row>& rows) {
  struct Open {
    std::size_t row;
  };
  ByDefinition result;
  std::vector<std::size_t> order(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row) order[row] = row;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return rows[a].time < rows[b].time; });
  int last = rows.empty() ? 0 : rows[0].time;
  for (const Row& row : rows) last = std::max(last, row.time + row.duration);
  std::vector<std::optional<int>> end(rows.size());
  std::vector<std::size_t> open;
  for (const std::size_t row : order) {
    if (rows[row].phase == 'B') open.push_back(row);
    if (rows[row].phase != 'E') continue;
    const auto found = std::find_if(open.rbegin(), open.rend(), [&](std::size_t begin) {
      return rows[begin].thread == rows[row].thread &&
             (rows[row].name.empty() || rows[row].name == rows[begin].name);
    });
    if (found == open.rend()) {
      ++result.unmatched;
      continue;
    }
    end[*found] = rows[row].time;
    open.erase(std::next(found).base());
  }
  result.not_ended = open.size();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (rows[row].phase == 'E') continue;
    const int duration =
        rows[row].phase == 'X' ? rows[row].duration : end[row].value_or(last) - rows[row].time;
    const bool is_open = rows[row].phase == 'B' && !end[row];
    result.ranges.push_back(rows[row].name + ' ' + std::to_string(rows[row].time) + '+' +
                            std::to_string(duration) + (is_open ? "?" : ""));
  }
  return result;
}

std::vector<Row> random_rows(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Row> rows;
  const int times = 2 + static_cast<int>(random() % 30);
  for (auto count = random() % 40; count > 0; --count) {
    Row row;
    row.phase = "BBBEEEX"[random() % 7];
    row.name = std::string(1, static_cast<char>('a' + random() % 3));
    if (row.phase == 'E' && random() % 2 == 0) row.name.clear();
    row.time = static_cast<int>(random() % static_cast<unsigned>(times));
    row.thread = 1 + static_cast<int>(random() % 2);
    if (row.phase == 'X') row.duration = static_cast<int>(random() % 5);
    rows.push_back(row);
  }
  return rows;
}

TEST(RangePairs, AgreeWithTheirDefinition) {
  for (unsigned seed = 0; seed < fixtures::random_rounds(3000u); ++seed) {
    const std::vector<Row> rows = random_rows(seed);
    const std::string text = text_of(rows);
    const Trace trace = read(text);
    const ByDefinition expected = paired_by_definition(rows);
    ASSERT_EQ(ranges(trace), expected.ranges) << text;
    const auto count = [&](std::string_view id) -> std::uint64_t {
      for (const Issue& issue : trace.issues()) {
        if (issue.id == id) return issue.count;
      }
      return 0;
    };
    ASSERT_EQ(count("range_not_ended"), expected.not_ended) << text;
    ASSERT_EQ(count("range_end_unmatched"), expected.unmatched) << text;
  }
}

TEST(RangePairs, AreFoundFastHoweverManyAreOpen) {
  // Open ranges of one name lie under as many ends of another; quadratic work would take minutes.
  std::vector<Row> rows;
  for (int row = 0; row < 60'000; ++row) rows.push_back({'B', "a", row});
  for (int row = 0; row < 60'000; ++row) rows.push_back({'E', "b", 60'000 + row});
  for (int row = 0; row < 60'000; ++row) rows.push_back({'E', "a", 120'000 + row});
  const Trace trace = read(text_of(rows));
  EXPECT_EQ(issue_counts(trace), "range_end_unmatched 60000");
  EXPECT_EQ(trace.events().duration_ns(EventId{0}), 179'999'000);
}

TEST(RangePairs, AreFoundTheSameInEveryWay) {
  for (unsigned seed = 0; seed < fixtures::random_rounds(300u); ++seed) {
    const std::string text = text_of(random_rows(seed));
    ASSERT_EQ(fixtures::difference_between(text, fixtures::some_reading_ways(seed)), "") << text;
  }
}

}  // namespace
}  // namespace tbtrace
