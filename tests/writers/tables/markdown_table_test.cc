#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/report.h>

#include "fixtures/hostile_names.h"

namespace tbtrace {
namespace {

std::string markdown_of(std::string_view text) {
  return table_markdown({.columns = {"key"}, .rows = {{std::string(text)}}});
}

/// The last line of a table with one cell.
std::string cell_of(std::string_view text) {
  constexpr std::string_view kHead = "| key |\n| --- |\n";
  const std::string markdown = markdown_of(text);
  EXPECT_TRUE(markdown.starts_with(kHead));
  return markdown.substr(kHead.size());
}

TEST(MarkdownTable, PutsNamesInBackticksAndNumbersToTheRight) {
  const Table table = {.columns = {"key", "count", "share"},
                       .rows = {{std::string("aten::mm"), std::int64_t{12}, 0.5},
                                {std::string("a*b_c"), std::int64_t{-1}, 0.25}}};
  EXPECT_EQ(table_markdown(table),
            "| key | count | share |\n"
            "| --- | ---: | ---: |\n"
            "| `aten::mm` | 12 | 0.5 |\n"
            "| `a*b_c` | -1 | 0.25 |\n");
}

TEST(MarkdownTable, LeavesOutColumnsInWhichNothingStands) {
  const Table table = {.columns = {"key", "flops", "count", "stack", "shapes", "none"},
                       .rows = {{std::string("a"), std::uint64_t{0}, std::int64_t{1},
                                 std::vector<std::string>{}, Json{"[]"}, std::monostate()},
                                {std::string("b"), std::uint64_t{0}, std::int64_t{0},
                                 std::vector<std::string>{}, Json{"[]"}, std::monostate()}}};
  EXPECT_EQ(table_markdown(table),
            "| key | count |\n"
            "| --- | ---: |\n"
            "| `a` | 1 |\n"
            "| `b` | 0 |\n");
}

TEST(MarkdownTable, OfNoRowsStillHasAColumn) {
  EXPECT_EQ(table_markdown({.columns = {"key", "count"}, .rows = {}}), "| key |\n| --- |\n");
}

TEST(MarkdownTable, ShowsAListAndShapesAsCode) {
  const Table table = {
      .columns = {"key", "stack", "shapes"},
      .rows = {{std::string("a"), std::vector<std::string>{"f", "g"}, Json{"[[2]]"}}}};
  EXPECT_EQ(table_markdown(table),
            "| key | stack | shapes |\n| --- | --- | --- |\n| `a` | `f;g` | `[[2]]` |\n");
}

TEST(MarkdownTable, FencesBackticksWithMoreOfThem) {
  EXPECT_EQ(cell_of("a`b"), "| ``a`b`` |\n");
  EXPECT_EQ(cell_of("`"), "| `` ` `` |\n");
  EXPECT_EQ(cell_of("a``"), "| ``` a`` ``` |\n");
  EXPECT_EQ(cell_of(fixtures::kBackticks), "| ```` ``a` b``` ```` |\n");
}

TEST(MarkdownTable, KeepsBlanksAtBothEnds) {
  // A reader takes one blank from either end.
  EXPECT_EQ(cell_of(" a "), "| `  a  ` |\n");
  EXPECT_EQ(cell_of(" a"), "| ` a` |\n");
  EXPECT_EQ(cell_of("  "), "| `  ` |\n");
}

TEST(MarkdownTable, DoesNotLetAPipeEndTheCell) {
  EXPECT_EQ(cell_of("a|b"), "| `a\\|b` |\n");
  EXPECT_EQ(cell_of(fixtures::kPipes), "| `\\|a\\|\\|b\\\\|c\\|` |\n");
}

TEST(MarkdownTable, DoesNotLetANewlineEndTheRow) {
  EXPECT_EQ(cell_of("a\nb\r\nc\td"), "| `a b  c d` |\n");
}

TEST(MarkdownTable, ShowsNothingForAnEmptyName) { EXPECT_EQ(cell_of(""), "|  |\n"); }

TEST(MarkdownTable, KeepsOtherHostileNamesInTheirFence) {
  EXPECT_EQ(cell_of(fixtures::kScript), "| `" + std::string(fixtures::kScript) + "` |\n");
  EXPECT_EQ(cell_of(fixtures::kNotUtf8), "| `" + std::string(fixtures::kNotUtf8) + "` |\n");
  EXPECT_EQ(cell_of(fixtures::kRightToLeft), "| `" + std::string(fixtures::kRightToLeft) + "` |\n");
}

TEST(MarkdownTable, HasThreeLinesWhateverTheName) {
  for (const std::string_view name : fixtures::kHostileNames) {
    std::size_t newlines = 0;
    for (const char c : markdown_of(name)) newlines += c == '\n';
    EXPECT_EQ(newlines, 3u) << name;
  }
}

}  // namespace
}  // namespace tbtrace
