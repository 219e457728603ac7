// Tables as columns: types, texts, and what is left out.
#include "pages/table_text.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "fixtures/hostile_names.h"
#include "pages/written_view.h"

namespace tbtrace::pages {
namespace {

using fixtures::JsonTree;

TableContent table(std::vector<std::string> columns, std::vector<std::vector<Cell>> rows) {
  TableContent content{.name = "t", .title = "T", .command = {}, .report = {}};
  content.report.table = {std::move(columns), std::move(rows)};
  return content;
}

JsonTree column(const TableContent& content, std::size_t number, const ViewLimits& limits = {}) {
  const JsonTree tree = written(content, limits);
  return tree.find("columns")->items.at(number);
}

TEST(TableText, NumbersAreThoseOfTheTable) {
  const TableContent content = table(
      {"time_ns", "share"}, {{std::int64_t{12}, 0.1}, {Cell(), 1e300}, {std::int64_t{-7}, 0.0}});
  EXPECT_EQ(member(column(content, 0), "type"), "number");
  EXPECT_EQ(member(column(content, 0), "unit"), "ns");
  EXPECT_EQ(list_of(column(content, 0), "values"), "12 - -7");
  EXPECT_EQ(list_of(column(content, 1), "values"), "0.1 1e+300 0");
}

TEST(TableText, IntegersThatNoDoubleHoldsAreTexts) {
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  const TableContent content = table(
      {"a", "b", "c"}, {{kExact, kExact + 1, std::uint64_t{3}},
                        {-kExact, std::int64_t{1}, std::numeric_limits<std::uint64_t>::max()}});
  EXPECT_EQ(member(column(content, 0), "type"), "number");
  const JsonTree second = column(content, 1);
  EXPECT_EQ(member(second, "type"), "integer");
  EXPECT_EQ(list_of(second, "values"), "9007199254740993 1");
  EXPECT_TRUE(second.find("values")->items.at(1).is_string());
  EXPECT_EQ(list_of(column(content, 2), "values"), "3 18446744073709551615");
}

TEST(TableText, TextsStandOnceInTheOrderOfTheirBytes) {
  const TableContent content =
      table({"name"}, {{std::string("b")}, {std::string("a")}, {Cell()}, {std::string("b")}});
  const JsonTree names = column(content, 0);
  EXPECT_EQ(member(names, "type"), "text");
  EXPECT_EQ(list_of(names, "texts"), "a b");
  EXPECT_EQ(list_of(names, "values"), "1 0 - 1");
}

TEST(TableText, ListsAreJson) {
  const TableContent content =
      table({"shapes"}, {{Json{"[[1, 2]]"}}, {std::vector<std::string>{"x", "y"}}});
  const JsonTree shapes = column(content, 0);
  EXPECT_EQ(member(shapes, "type"), "json");
  EXPECT_EQ(shapes.find("texts")->items.at(0).text, "[\"x\", \"y\"]");
  EXPECT_EQ(shapes.find("texts")->items.at(1).text, "[[1, 2]]");
}

TEST(TableText, CutsAndCountsLongTextsAndLists) {
  const std::string name = std::string(600, 'x') + "\u00e9";
  const TableContent content =
      table({"name", "list"}, {{name, Json{"[" + std::string(3000, '1') + "]"}}});
  const JsonTree tree = written(content);
  EXPECT_EQ(member(tree, "names_cut"), "2");
  const std::string cut = column(content, 0).find("texts")->items.at(0).text;
  EXPECT_EQ(cut, std::string(499, 'x') + "\u2026");
  const std::string list = column(content, 1).find("texts")->items.at(0).text;
  EXPECT_TRUE(parsed(list).is_string()) << "what is cut is JSON all the same";
}

TEST(TableText, AnyNameIsText) {
  std::vector<std::vector<Cell>> rows;
  for (const std::string_view name : fixtures::kHostileNames) rows.push_back({std::string(name)});
  rows.push_back({std::string("NUL \0 inside", 12)});
  const JsonTree names = column(table({"name"}, rows), 0);
  EXPECT_EQ(names.find("texts")->items.size(), rows.size());
}

TEST(TableText, ColumnsHaveTheTypesOfTheirDescriptionsWhateverTheirRows) {
  TableContent content = table({"flag", "text", "list"}, {{Cell(), Cell(), Cell()}});
  content.columns =
      columns_in("flag | boolean or null\ntext | text or null\nlist | list or null\n");
  EXPECT_EQ(member(column(content, 0), "type"), "flag");
  EXPECT_EQ(member(column(content, 1), "type"), "text");
  EXPECT_EQ(member(column(content, 2), "type"), "json");
}

TEST(TableText, MeaningsHaveNoLinks) {
  TableContent content = table({"n", "m"}, {{std::int64_t{1}, std::int64_t{2}}});
  content.columns = columns_in(
      "n | integer | see [the rules](x.md#y) of `[idle]`, and [more](z.md)\n"
      "m | integer | a [b] (c) [\n");
  EXPECT_EQ(member(column(content, 0), "meaning"), "see the rules of `[idle]`, and more");
  EXPECT_EQ(member(column(content, 1), "meaning"), "a [b] (c) [");
}

TEST(TableText, LeavesOutTheLastRowsAndCountsThem) {
  std::vector<std::vector<Cell>> rows;
  for (std::int64_t row = 0; row < 10; ++row) rows.push_back({row});
  const JsonTree tree = written(table({"n"}, rows), {.rows = 4});
  EXPECT_EQ(member(tree, "rows"), "4");
  EXPECT_EQ(member(tree, "left_out"), "6");
  EXPECT_EQ(list_of(tree.find("columns")->items.at(0), "values"), "0 1 2 3");
}

TEST(TableText, DroppedRowsAreCounted) {
  std::vector<std::vector<Cell>> rows;
  for (std::int64_t row = 0; row < 10; ++row) rows.push_back({row});
  TableContent content = table({"n"}, rows);
  content.most_rows = 8;
  drop_rows(content, 100);
  EXPECT_EQ(content.report.table.rows.size(), 8u);
  drop_rows(content, 7);
  const JsonTree tree = written(content, {.rows = 4});
  EXPECT_EQ(member(tree, "left_out"), "6");
  EXPECT_EQ(list_of(tree.find("columns")->items.at(0), "values"), "0 1 2 3");
}

TEST(TableText, ACurveKeepsItsExtremes) {
  std::vector<std::vector<Cell>> rows;
  for (std::int64_t at = 0; at < 1000; ++at) {
    const std::int64_t bytes = at == 333 ? 9000 : at == 777 ? -5 : at % 100;
    rows.push_back({at, std::string(at % 2 == 0 ? "cpu" : "cuda:0"), bytes});
  }
  TableContent content = table({"at_ns", "device_name", "allocated_bytes"}, rows);
  content.is_curve = true;
  const JsonTree tree = written(content, {.rows = 100});
  const std::string at = " " + list_of(tree.find("columns")->items.at(0), "values") + " ";
  EXPECT_NE(at.find(" 333 "), std::string::npos);
  EXPECT_NE(at.find(" 777 "), std::string::npos);
  EXPECT_LE(std::stoi(member(tree, "rows")), 130);
  EXPECT_EQ(std::stoi(member(tree, "rows")) + std::stoi(member(tree, "left_out")), 1000);
}

}  // namespace
}  // namespace tbtrace::pages
