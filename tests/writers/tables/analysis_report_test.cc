#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <tbtrace/compat.h>
#include <tbtrace/gpu.h>
#include <tbtrace/report.h>

namespace tbtrace {
namespace {

using testing::HasSubstr;
using testing::Not;

AnalysisReport report() {
  AnalysisReport report;
  report.schema = "tbtrace.test/1";
  report.table.columns = {"name", "total_ns", "count", "share"};
  report.table.rows = {{std::string("b"), std::int64_t{5}, std::uint64_t{1}, 0.25},
                       {std::string("a"), std::int64_t{7'000}, {}, 0.75},
                       {std::string("c"), INT64_MAX, std::uint64_t{2}, {}}};
  report.shown = {"name", "total_ns", "count", "share"};
  report.totals = {{"total_ns", std::int64_t{7'005}}, {"rows", std::int64_t{2}}};
  report.totals_label = "sum";
  report.source.issues["input_truncated"] = 2;
  return report;
}

std::string text(const AnalysisReport& report, const ReportOptions& options = {}) {
  const Result<std::string> text = report_text(report, options);
  return text.ok() ? *text : text.status().message();
}

TEST(AnalysisReport, TextHasUnitsAndTotals) {
  AnalysisReport two = report();
  two.table.rows.pop_back();
  EXPECT_EQ(text(two),
            "name     total  count   share\n"
            "----  --------  -----  ------\n"
            "b         5 ns      1  25.0 %\n"
            "a     7.000 us      -  75.0 %\n"
            "sum   7.005 us\n"
            "\n"
            "rows  2\n");
}

TEST(AnalysisReport, TextLeavesOutTotalsThatMatterOnlyIfTheyAreNotZero) {
  AnalysisReport some = report();
  some.totals = {{"waiting_ns", std::int64_t{0}}, {"rows", std::int64_t{0}}};
  some.totals_if_any = {"waiting_ns"};
  EXPECT_THAT(text(some), HasSubstr("\nrows  0\n"));
  EXPECT_THAT(text(some), Not(HasSubstr("waiting")));
  EXPECT_THAT(text(some, {.format = TableFormat::json}), HasSubstr("\"waiting_ns\": 0"));
  some.totals[0].second = std::int64_t{7};
  EXPECT_THAT(text(some), HasSubstr("waiting  7 ns"));
}

TEST(AnalysisReport, CutRowsAreCounted) {
  EXPECT_THAT(text(report(), {.row_limit = 1}), HasSubstr("\n... and 2 more rows\n"));
}

AnalysisReport report_with_hidden_columns() {
  AnalysisReport some = report();
  some.shown = {"name", "total_ns"};
  return some;
}

TEST(AnalysisReport, ColumnsThatAreNotShownAreCounted) {
  EXPECT_THAT(text(report_with_hidden_columns()), HasSubstr("\n... and 2 more columns\n"));
  EXPECT_THAT(text(report_with_hidden_columns(),
                   {.row_limit = 1, .how_to_show_all_columns = "read the code"}),
              HasSubstr("\n... and 2 more rows, 2 more columns; read the code\n"));
}

TEST(AnalysisReport, WideTextsHaveAllColumnsWhateverTheWidth) {
  EXPECT_EQ(text(report_with_hidden_columns(), {.width = 10, .wide = true}), text(report()));
}

TEST(AnalysisReport, NarrowTextsHaveTheFirstColumnsThatFit) {
  const std::string narrow = text(report(), {.width = 24});
  EXPECT_THAT(narrow, testing::StartsWith("name             total\n"));
  EXPECT_THAT(narrow, HasSubstr("... and 2 more columns\n"));
}

TEST(AnalysisReport, TheColumnToSortByIsShown) {
  EXPECT_THAT(text(report_with_hidden_columns(), {.sort_by = "share"}),
              testing::StartsWith("name             total   share\n"));
}

TEST(AnalysisReport, InputsAreNamedByWhatTellsThemApartButOnlyForPeople) {
  const std::vector<std::string> paths = {"/logs/iteration_10/rank0_trace.json",
                                          "/logs/iteration_20/rank0_trace.json"};
  std::vector<ReportOfInput> inputs;
  for (const std::string& path : paths) inputs.push_back({0, path, report()});
  const AnalysisReport all = join_inputs(std::move(inputs), true);
  EXPECT_THAT(text(all, {.row_limit = 1}), HasSubstr("\niteration_10  b "));
  EXPECT_THAT(text(all), HasSubstr("\niteration_20  b "));
  EXPECT_THAT(text(all, {.format = TableFormat::csv}), HasSubstr(paths[1]));
}

TEST(AnalysisReport, SortsByAnyColumnWithMissingValuesLast) {
  const std::string by_count = text(report(), {.format = TableFormat::csv, .sort_by = "count"});
  EXPECT_EQ(by_count,
            "name,total_ns,count,share\r\n"
            "c,9223372036854775807,2,\r\n"
            "b,5,1,0.25\r\n"
            "a,7000,,0.75\r\n");
  EXPECT_THAT(text(report(), {.format = TableFormat::csv, .sort_by = "name"}),
              HasSubstr("share\r\na,7000,,0.75\r\nb,"));
}

TEST(AnalysisReport, UnknownSortColumnNamesTheKnownOnes) {
  const Result<std::string> wrong = report_text(report(), {.sort_by = "size"});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.status().code(), StatusCode::invalid_argument);
  EXPECT_EQ(wrong.status().message(),
            "unknown column 'size' to sort by; use one of name, total_ns, count, share");
}

TEST(AnalysisReport, JsonHasSchemaRowsTotalsAndIssues) {
  simdjson::dom::parser parser;
  const simdjson::padded_string json(text(report(), {.format = TableFormat::json}));
  const simdjson::dom::element document = parser.parse(json);
  EXPECT_EQ(std::string_view(document["schema"]), "tbtrace.test/1");
  EXPECT_EQ(simdjson::dom::array(document["rows"]).size(), 3U);
  EXPECT_EQ(std::int64_t(document["rows"].at(2)["total_ns"]), INT64_MAX);
  EXPECT_TRUE(document["rows"].at(1)["count"].is_null());
  EXPECT_EQ(std::int64_t(document["totals"]["total_ns"]), 7'005);
  EXPECT_EQ(std::int64_t(document["issues"]["input_truncated"]), 2);
}

TEST(AnalysisReport, JoinedReportsHaveAllRowsAndSums) {
  std::vector<AnalysisReport> reports = {report(), report(), report()};
  reports[1].totals = {{"rows", std::int64_t{INT64_MAX}}, {"total_ns", std::int64_t{5}}};
  const AnalysisReport sum = join_reports(std::move(reports));
  EXPECT_EQ(sum.table.rows.size(), 9U);
  EXPECT_EQ(sum.source.issues.at("input_truncated"), 6U);
  ASSERT_EQ(sum.totals.size(), 2U);
  EXPECT_EQ(sum.totals[0].first, "total_ns");
  EXPECT_EQ(sum.totals[0].second, Cell(std::int64_t{14'015}));
  EXPECT_EQ(sum.totals[1].second, Cell(std::int64_t{INT64_MAX}));
  EXPECT_TRUE(join_reports({}).table.rows.empty());
}

TEST(AnalysisReport, TotalsThatAReportLacksHaveNoSum) {
  std::vector<AnalysisReport> reports = {report(), report()};
  reports[0].totals = {{"a", std::int64_t{1}}, {"b", std::uint64_t{2}}, {"c", 0.5}};
  reports[1].totals = {{"b", Cell()}, {"c", 0.5}};
  for (const auto& [name, sum] : join_reports(std::move(reports)).totals) {
    EXPECT_EQ(sum, Cell()) << name;
  }
}

TEST(AnalysisReport, ARuleOfItsOwnSeesAllRows) {
  std::vector<AnalysisReport> reports = {report(), report(), report()};
  for (AnalysisReport& one : reports) {
    one.joined_totals = [](const AnalysisReport::Totals& sums, const Table& rows) {
      return AnalysisReport::Totals{sums.front(),
                                    {"all", static_cast<std::int64_t>(rows.rows.size())}};
    };
  }
  const AnalysisReport sum = join_reports(std::move(reports));
  EXPECT_EQ(sum.totals[0].second, Cell(std::int64_t{21'015}));
  EXPECT_EQ(sum.totals[1].second, Cell(std::int64_t{9}));
}

TEST(AnalysisReport, WithoutRowsHasNoText) {
  AnalysisReport empty = report();
  empty.table.rows.clear();
  EXPECT_EQ(text(empty), "");
}

TEST(AnalysisReport, RowsOfATreeAreIndentedUnlessTheyAreSorted) {
  AnalysisReport report;
  report.schema = "tbtrace.test/1";
  report.table.columns = {"name", "path", "depth", "total_ns"};
  report.table.rows = {
      {std::string("net"), std::string("net"), std::uint64_t{0}, std::int64_t{5}},
      {std::string("fc"), std::string("net.fc"), std::uint64_t{1}, std::int64_t{7}}};
  report.shown = {"name", "total_ns"};
  report.tree = {.name = "name", .path = "path", .depth = "depth"};
  EXPECT_THAT(*report_text(report), testing::HasSubstr("\n  fc "));
  const std::string sorted = *report_text(report, {.sort_by = "total_ns"});
  EXPECT_THAT(sorted, testing::HasSubstr("\nnet.fc "));
  EXPECT_LT(sorted.find("net.fc"), sorted.find("\nnet "));
  EXPECT_THAT(*report_text(report, {.format = TableFormat::csv}),
              testing::HasSubstr("\r\nfc,net.fc,1,7\r\n"));
}

TEST(AnalysisReport, RowsAreSelectedAsInTheText) {
  AnalysisReport report;
  report.table.columns = {"count"};
  for (std::int64_t count = 0; count < 5; ++count) report.table.rows.push_back({count});
  const Table rows = *report_rows(report, {.sort_by = "count", .row_limit = 2});
  ASSERT_EQ(rows.rows.size(), 2U);
  EXPECT_EQ(rows.rows[0][0], Cell(std::int64_t{4}));
  EXPECT_EQ(report_rows(report, {.sort_by = "x"}).status().code(), StatusCode::invalid_argument);
}

TEST(AnalysisReport, OfSeveralShowsWhatAnyOfThemShows) {
  std::vector<AnalysisReport> reports(2);
  reports[0].shown = {"name", "cpu", "macs"};
  reports[1].shown = {"name", "device", "cpu", "memory", "macs"};
  EXPECT_EQ(join_reports(reports).shown,
            (std::vector<std::string>{"name", "device", "cpu", "memory", "macs"}));
  std::swap(reports[0], reports[1]);
  EXPECT_EQ(join_reports(reports).shown,
            (std::vector<std::string>{"name", "device", "cpu", "memory", "macs"}));
}

TEST(ReportOptions, AreCheckedBeforeATraceIsRead) {
  const auto check = [](const std::string& sort_by, const GpuOptions& gpu = {},
                        Figures figures = Figures::exact) {
    const AnalyseTrace analyse = [&](const Trace& trace) {
      return gpu_report(trace, figures, gpu);
    };
    return check_report_options(analyse, {.sort_by = sort_by}, gpu.steps);
  };
  EXPECT_TRUE(check("").ok());
  EXPECT_TRUE(check("idle_ns").ok());
  EXPECT_TRUE(check("input").ok()) << "several inputs have this column";
  EXPECT_THAT(check("nope").message(), HasSubstr("unknown column 'nope' to sort by; use one of"));
  EXPECT_FALSE(check("nope", {.steps = StepRange{3, 5}}).ok());
  EXPECT_TRUE(check("idle_ns", {.steps = StepRange{3, 5}}).ok());
  EXPECT_FALSE(check("sm_efficiency_percent").ok());
  EXPECT_TRUE(check("sm_efficiency_percent", {}, Figures::plugin).ok());
}

}  // namespace
}  // namespace tbtrace
