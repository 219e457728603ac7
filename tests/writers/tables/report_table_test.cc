#include "writers/tables/report_table.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fixtures/hostile_names.h"

namespace tbtrace::writers {
namespace {

TEST(ReportTable, CellsHaveTheUnitOfTheirColumn) {
  EXPECT_EQ(shown_cell("total_ns", std::int64_t{1'500}), "1.500 us");
  EXPECT_EQ(shown_cell("growth_per_step_bytes", std::int64_t{-2048}), "-2.00 KiB");
  EXPECT_EQ(shown_cell("least_ns", INT64_MIN), "-9223372036.855 s");
  EXPECT_EQ(shown_cell("mean_ns", 1'500.4), "1.500 us");
  EXPECT_EQ(shown_cell("occupancy_percent", 12.34), "12.3 %");
  EXPECT_EQ(shown_cell("gpu_utilization", 0.5), "50.0 %");
  EXPECT_EQ(shown_cell("count", std::uint64_t{18'446'744'073'709'551'615U}),
            "18446744073709551615");
  EXPECT_EQ(shown_cell("mean", 2.0), "2");
  EXPECT_EQ(shown_cell("mean", 2.345), "2.35");
  EXPECT_EQ(shown_cell("tensor_cores_used", true), "yes");
  EXPECT_EQ(shown_cell("count", {}), "-");
}

TEST(ReportTable, HeadingsLoseTheirUnit) {
  EXPECT_EQ(heading_of("idle_host_wait_ns"), "idle host wait");
  EXPECT_EQ(heading_of("peak_bytes"), "peak");
  EXPECT_EQ(heading_of("occupancy_percent"), "occupancy");
  EXPECT_EQ(heading_of("gpu_utilization"), "gpu utilization");
}

TEST(ReportTable, HostileNamesStayOnTheirLine) {
  Table table;
  table.columns = {"name", "count"};
  for (const std::string_view name : fixtures::kHostileNames) {
    table.rows.push_back({std::string(name), std::int64_t{1}});
  }
  const std::vector<std::string> shown = {"name", "count"};
  const std::string text = report_table(table, shown, 0);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2 + std::ssize(fixtures::kHostileNames));
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    ASSERT_TRUE(byte >= 0x20 || byte == '\n') << int{byte};
    ASSERT_NE(byte, 0x7f);
  }
}

TEST(ReportTable, CharactersThatActOnATerminalAreEscaped) {
  EXPECT_EQ(shown_cell("name", std::string("a\xc2\x9b"
                                           "31m")),
            "a\\x9b31m");
  EXPECT_EQ(shown_cell("name", std::string("a\u202egpj")), "a\\u202egpj");
  EXPECT_EQ(shown_cell("name", std::string("a\u2069")), "a\\u2069");
  EXPECT_EQ(shown_cell("name", std::string("\u00e9\u4e2d")), "\u00e9\u4e2d");
}

TEST(ReportTable, HiddenRowsAreCountedWithoutShownOnes) {
  Table table;
  table.columns = {"name"};
  const std::vector<std::string> shown = {"name"};
  EXPECT_EQ(report_table(table, shown, 7), "... and 7 more rows\n");
  EXPECT_EQ(report_table(table, shown, 0), "");
}

TEST(ReportTable, LongNamesKeepTheirStartAndEnd) {
  Table table;
  table.columns = {"name"};
  table.rows = {{std::string(100, 'a') + std::string(100, 'z')}};
  const std::vector<std::string> shown = {"name"};
  const std::string expected = std::string(37, 'a') + "..." + std::string(20, 'z');
  EXPECT_EQ(report_table(table, shown, 0),
            "name"
            "\n" +
                std::string(60, '-') + "\n" + expected + "\n");
}

TEST(ReportTable, ColumnsWithoutValuesAreLeftOut) {
  Table table;
  table.columns = {"rank", "name"};
  table.rows = {{{}, std::string("a")}};
  const std::vector<std::string> shown = {"rank", "name", "unknown"};
  EXPECT_EQ(report_table(table, shown, 0), "name\n----\na\n");
}

TEST(ReportTable, FewWideRowsStandBesideEachOther) {
  Table table;
  std::vector<std::string> shown;
  std::vector<Cell> one;
  std::vector<Cell> two;
  for (int column = 0; column < 12; ++column) {
    shown.push_back("a_long_column_" + std::to_string(column) + "_ns");
    one.emplace_back(std::int64_t{column});
    two.emplace_back(std::int64_t{1'000});
  }
  table.columns = shown;
  table.rows = {one, two};
  const std::string text = report_table(table, shown, 0);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 12);
  EXPECT_EQ(text.substr(0, text.find('\n')), "a long column 0    0 ns  1.000 us");
}

TEST(ReportTable, ShowsOperationsWithDecimalPrefixes) {
  EXPECT_EQ(shown_cell("macs", std::uint64_t{4089184256}), "4.09 G");
  EXPECT_EQ(shown_cell("flops_in_steps", std::uint64_t{12}), "12");
  EXPECT_EQ(shown_cell("achieved_flops_per_s", 12.345e12), "12.3 TFLOP/s");
  EXPECT_EQ(heading_of("forward_macs_per_sample"), "forward macs per sample");
}

TEST(ReportTable, NotesAreLinesThatATerminalCanShow) {
  const std::vector<std::string> notes = {"The peak of \x1b[31m is not known.", "More."};
  EXPECT_EQ(report_notes(notes), "The peak of \\x1b[31m is not known.\nMore.\n");
}

}  // namespace
}  // namespace tbtrace::writers
