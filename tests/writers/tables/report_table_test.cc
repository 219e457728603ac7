#include "writers/tables/report_table.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/hostile_names.h"

namespace tbtrace::writers {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ReportTable, HostileNamesStayOnTheirLine) {
  Table table;
  table.columns = {"name", "count"};
  for (const std::string_view name : fixtures::kHostileNames) {
    table.rows.push_back({std::string(name), std::int64_t{1}});
  }
  const std::vector<std::string> shown = {"name", "count"};
  const std::string text = report_table(table, shown, {});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2 + std::ssize(fixtures::kHostileNames));
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    ASSERT_TRUE(byte >= 0x20 || byte == '\n') << int{byte};
    ASSERT_NE(byte, 0x7f);
  }
}

TEST(ReportTable, HiddenRowsAreCountedWithoutShownOnes) {
  Table table;
  table.columns = {"name"};
  const std::vector<std::string> shown = {"name"};
  EXPECT_EQ(report_table(table, shown, {.hidden_rows = 7}), "... and 7 more rows\n");
  EXPECT_EQ(report_table(table, shown, {}), "");
}

TEST(ReportTable, LongNamesKeepTheirStartAndEnd) {
  Table table;
  table.columns = {"name"};
  table.rows = {{std::string(100, 'a') + std::string(100, 'z')}};
  const std::vector<std::string> shown = {"name"};
  const std::string expected = std::string(37, 'a') + "..." + std::string(20, 'z');
  EXPECT_EQ(report_table(table, shown, {}),
            "name"
            "\n" +
                std::string(60, '-') + "\n" + expected + "\n");
}

TEST(ReportTable, ColumnsWithoutValuesAreLeftOut) {
  Table table;
  table.columns = {"rank", "name"};
  table.rows = {{{}, std::string("a")}};
  const std::vector<std::string> shown = {"rank", "name", "unknown"};
  EXPECT_EQ(report_table(table, shown, {}), "name\n----\na\n");
}

TEST(ReportTable, FitsALineByCuttingTextsThenByLeavingOutTheLastColumns) {
  Table table;
  table.columns = {"name", "count", "total_ns"};
  table.rows = {{std::string(30, 'a') + std::string(30, 'z'), std::int64_t{1}, std::int64_t{5}}};
  const auto text = [&](std::size_t width) {
    return report_table(table, table.columns, {.width = width, .column_hint = "--wide shows all"});
  };
  EXPECT_EQ(text(0), text(1000));
  EXPECT_EQ(text(40),
            "name                        count  total\n"
            "--------------------------  -----  -----\n"
            "aaaaaaaaaaaaaaa...zzzzzzzz      1   5 ns\n");
  EXPECT_EQ(text(35),
            "name                          count\n"
            "----------------------------  -----\n"
            "aaaaaaaaaaaaaaaa...zzzzzzzzz      1\n"
            "... and 1 more column; --wide shows all\n");
}

TEST(ReportTable, TextsThatDifferInTheMiddleStayApart) {
  Table table;
  table.columns = {"name", "count", "calls"};
  const std::string end(12, 'z');
  table.rows = {{std::string(30, 'a') + "1" + end, std::int64_t{1}, std::int64_t{1}},
                {std::string(30, 'a') + "2" + end, std::int64_t{2}, std::int64_t{2}}};
  const std::string text = report_table(table, table.columns, {.width = 50});
  EXPECT_THAT(text, HasSubstr("1" + end + "  ")) << text;
  EXPECT_THAT(text, HasSubstr("2" + end + "  ")) << text;
  EXPECT_THAT(text, HasSubstr("... and 1 more column\n"));
}

TEST(ReportTable, TotalsOfColumnsThatAreLeftOutHaveNoRow) {
  Table table;
  table.columns = {"name", "count", "a_long_column_ns"};
  table.rows = {{std::string("a"), std::int64_t{1}, std::int64_t{5}},
                {std::string("b"), std::int64_t{1}, std::int64_t{6}}};
  const TotalsLine totals = {.label = "total", .cells = {{"a_long_column_ns", std::int64_t{11}}}};
  EXPECT_THAT(report_table(table, table.columns, {}, &totals), HasSubstr("total"));
  EXPECT_THAT(report_table(table, table.columns, {.width = 15}, &totals), Not(HasSubstr("total")));
}

TEST(ReportTable, IsNeverTurnedOnItsSide) {
  Table table;
  std::vector<Cell> row;
  for (int column = 0; column < 12; ++column) {
    table.columns.push_back("a_long_column_" + std::to_string(column) + "_ns");
    row.emplace_back(std::int64_t{column});
  }
  table.rows = {row};
  const std::string text = report_table(table, table.columns, {});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  const std::string cut = report_table(table, table.columns, {.width = 40, .hidden_rows = 2});
  EXPECT_EQ(cut,
            "a long column 0  a long column 1\n"
            "---------------  ---------------\n"
            "           0 ns             1 ns\n"
            "... and 2 more rows, 10 more columns\n");
}

TEST(ReportTable, CountsColumnsThatWereNotAskedFor) {
  Table table;
  table.columns = {"name"};
  table.rows = {{std::string("a")}};
  EXPECT_EQ(report_table(table, table.columns, {.hidden_columns = 1}),
            "name\n----\na\n... and 1 more column\n");
}

TEST(ReportTable, NotesAreLinesThatATerminalCanShow) {
  const std::vector<std::string> notes = {"The peak of \x1b[31m is not known.", "More."};
  EXPECT_EQ(report_notes(notes), "The peak of \\x1b[31m is not known.\nMore.\n");
}

}  // namespace
}  // namespace tbtrace::writers
