#include <cstdint>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/report.h>

namespace tbtrace {
namespace {

using testing::HasSubstr;
using testing::Not;

AnalysisReport report() {
  AnalysisReport report;
  report.table.columns = {"name", "total_ns", "note", "hidden"};
  report.table.rows = {{std::string("<b>&"), std::int64_t{7'000}, {}, std::int64_t{1}},
                       {std::string("a"), std::int64_t{5}, {}, std::int64_t{2}}};
  report.shown = {"name", "total_ns", "note"};
  report.totals = {{"total_ns", std::int64_t{7'005}}, {"window_ns", std::int64_t{8'000}}};
  report.totals_label = "sum";
  return report;
}

std::string html(const AnalysisReport& report, const ReportOptions& options = {}) {
  const Result<std::string> text = report_html(report, options);
  return text.ok() ? *text : text.status().message();
}

TEST(HtmlTable, HasTheCellsOfTheTextWithTotals) {
  EXPECT_EQ(html(report()),
            "<table>\n"
            "<thead><tr><th>name</th><th>total</th></tr></thead>\n"
            "<tbody>\n"
            "<tr><td style=\"text-align:left\">&lt;b&gt;&amp;</td><td>7.000 us</td></tr>\n"
            "<tr><td style=\"text-align:left\">a</td><td>5 ns</td></tr>\n"
            "</tbody>\n"
            "<tfoot><tr><th>sum</th><td>7.005 us</td></tr></tfoot>\n"
            "</table>\n"
            "<p>window: 8.000 us</p>\n");
}

TEST(HtmlTable, SaysHowManyRowsThereAre) {
  EXPECT_THAT(html(report(), {.row_limit = 1}), HasSubstr("<p>1 of 2 rows</p>"));
  EXPECT_THAT(html(report()), Not(HasSubstr("rows</p>")));
}

TEST(HtmlTable, NotesAreEscapedAndStandAlsoWithoutRows) {
  AnalysisReport none = report();
  none.table.rows.clear();
  none.notes = {"the trace <x>\x1b has none"};
  EXPECT_EQ(html(none), "<p>no rows</p>\n<p>the trace &lt;x&gt;\\x1b has none</p>\n");
}

TEST(HtmlTable, NamesOfTreesKeepTheirIndent) {
  AnalysisReport tree = report();
  tree.table.columns = {"name", "path", "depth"};
  tree.table.rows = {{std::string("a"), std::string("a"), std::uint64_t{0}},
                     {std::string("b"), std::string("a/b"), std::uint64_t{1}}};
  tree.shown = {"name"};
  tree.tree = {.name = "name", .path = "path", .depth = "depth"};
  EXPECT_THAT(html(tree), HasSubstr(">&nbsp;&nbsp;b</td>"));
  EXPECT_THAT(html(tree, {.sort_by = "path"}), HasSubstr("<th>path</th>"));
}

TEST(HtmlTable, FailsForUnknownColumns) {
  EXPECT_THAT(html(report(), {.sort_by = "colour"}), HasSubstr("unknown column 'colour'"));
}

}  // namespace
}  // namespace tbtrace
