#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/report.h>

#include "fixtures/hostile_names.h"

namespace tbtrace {
namespace {

std::string csv_of(std::string_view text) {
  return table_csv({.columns = {"key", "count"}, .rows = {{std::string(text), std::int64_t{1}}}});
}

/// The first field of the second row, read as RFC 4180 says; and that nothing is left over.
std::string read_field(std::string_view csv) {
  csv.remove_prefix(std::string_view("key,count\r\n").size());
  std::string field;
  if (!csv.starts_with('"')) {
    field = csv.substr(0, csv.find(','));
    csv.remove_prefix(field.size());
    EXPECT_EQ(field.find_first_of("\"\r\n"), std::string::npos);
  } else {
    csv.remove_prefix(1);
    while (!csv.starts_with('"') || csv.starts_with("\"\"")) {
      if (csv.empty()) return "no closing quote";
      if (csv.starts_with('"')) csv.remove_prefix(1);
      field += csv[0];
      csv.remove_prefix(1);
    }
    csv.remove_prefix(1);
  }
  EXPECT_EQ(csv, ",1\r\n");
  return field;
}

TEST(CsvTable, HasAHeaderAndEndsLinesWithBothCharacters) {
  const Table table = {.columns = {"key", "count", "self_cpu_time_total_ns"},
                       .rows = {{std::string("aten::mm"), std::int64_t{2}, std::int64_t{-3}},
                                {std::string("aten::add"), std::int64_t{1}, std::monostate()}}};
  EXPECT_EQ(table_csv(table),
            "key,count,self_cpu_time_total_ns\r\n"
            "aten::mm,2,-3\r\n"
            "aten::add,1,\r\n");
}

TEST(CsvTable, OfNoRowsIsItsHeader) {
  EXPECT_EQ(table_csv({.columns = {"a", "b"}, .rows = {}}), "a,b\r\n");
}

TEST(CsvTable, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(csv_of("a b;c"), "key,count\r\na b;c,1\r\n");
  EXPECT_EQ(csv_of("a,b"), "key,count\r\n\"a,b\",1\r\n");
  EXPECT_EQ(csv_of("a\nb"), "key,count\r\n\"a\nb\",1\r\n");
  EXPECT_EQ(csv_of("a\rb"), "key,count\r\n\"a\rb\",1\r\n");
  EXPECT_EQ(csv_of("a\"b"), "key,count\r\n\"a\"\"b\",1\r\n");
  EXPECT_EQ(csv_of("\""), "key,count\r\n\"\"\"\",1\r\n");
}

TEST(CsvTable, QuotesColumnNamesToo) {
  EXPECT_EQ(table_csv({.columns = {"a,b"}, .rows = {}}), "\"a,b\"\r\n");
}

TEST(CsvTable, JoinsListsInOneField) {
  const Table table = {.columns = {"stack", "shapes"},
                       .rows = {{std::vector<std::string>{"f(1), g", "h"}, Json{"[[2, 3], []]"}}}};
  EXPECT_EQ(table_csv(table), "stack,shapes\r\n\"f(1), g;h\",\"[[2, 3], []]\"\r\n");
}

TEST(CsvTable, BringsEveryHostileNameBackByteForByte) {
  for (const std::string_view name : fixtures::kHostileNames) {
    EXPECT_EQ(read_field(csv_of(name)), name);
  }
}

}  // namespace
}  // namespace tbtrace
