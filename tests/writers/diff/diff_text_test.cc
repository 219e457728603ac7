// A comparison as text, Markdown, CSV and JSON.
#include <cstdint>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/diff.h>

#include "fixtures/json_tree.h"

namespace tbtrace {
namespace {

using testing::HasSubstr;
using testing::Not;

Diff made_diff() {
  Diff diff;
  diff.comparable = Comparable::warning;
  diff.reasons = {"Another GPU: A before, B now."};
  diff.verdict = DiffVerdict::slower;
  diff.why = "Runs vary little.";
  diff.base_names = {"a.json"};
  diff.new_names = {"b.json", "c.json"};
  diff.step = {.base_ns = 10e6, .new_ns = 12e6, .change = 0.2, .low = 0.15, .high = 0.25};
  diff.rows[static_cast<std::size_t>(DiffBy::op)] = {
      {.key = "aten::mm",
       .base_count = 2,
       .new_count = 3,
       .base_ns = 4e6,
       .new_ns = 5.5e6,
       .change_ns = 1.5e6,
       .verdict = DiffVerdict::slower,
       .share = 0.75,
       .matched_by = "name"},
      {.key = "new|<b>", .new_ns = 0.5e6, .change_ns = 0.5e6, .share = 0.25},
      {.key = "aten::relu", .base_ns = 1e6, .new_ns = 1e6, .matched_by = "name"}};
  diff.rows[static_cast<std::size_t>(DiffBy::module)] = {
      {.key = "[no module]", .base_ns = 10e6, .new_ns = 12e6, .change_ns = 2e6, .share = 1.0}};
  diff.quantities = {{"gpu_idle_ns", 2e6, 3e6}, {"gpu_memory_peak_bytes", {}, 5e6}};
  return diff;
}

TEST(DiffText, HasTheVerdictAndWhatExplainsIt) {
  const std::string text = *diff_text(made_diff());
  EXPECT_THAT(text, HasSubstr("new:  b.json, c.json"));
  EXPECT_THAT(text, HasSubstr("- Another GPU: A before, B now."));
  EXPECT_THAT(text, HasSubstr("step: 10.000 ms before, 12.000 ms now, +20.0 % "
                              "(99.7 % interval +15.0 % to +25.0 %)"));
  EXPECT_THAT(text, HasSubstr("verdict: slower. Runs vary little."));
  EXPECT_THAT(text, HasSubstr("aten::mm"));
  EXPECT_THAT(text, HasSubstr("1 row without a change"));
  EXPECT_THAT(text, Not(HasSubstr("aten::relu")));
  EXPECT_THAT(text, Not(HasSubstr("no module"))) << "there are no modules to divide by";
  EXPECT_THAT(text, HasSubstr("gpu idle"));
  EXPECT_THAT(text, HasSubstr("+50.0 %"));
}

TEST(DiffText, SaysWhatCannotBeCompared) {
  Diff diff = made_diff();
  diff.comparable = Comparable::no;
  EXPECT_THAT(*diff_text(diff), HasSubstr("verdict: not comparable"));
}

TEST(DiffText, IsMarkdownWithEscapedNames) {
  const std::string text = *diff_text(made_diff(), {.format = TableFormat::markdown});
  EXPECT_THAT(text, HasSubstr("### By operator, per step"));
  EXPECT_THAT(text, Not(HasSubstr("new|<b>")));
}

TEST(DiffText, HasUnitsAndLimitsInMarkdown) {
  const std::string text = *diff_text(
      made_diff(), {.by = {DiffBy::op},
                    .format = TableFormat::markdown,
                    .limits = {{LimitVerdict::exceeded, "step_time>+3%: changed by +20.0 %"}}});
  EXPECT_THAT(text, HasSubstr("1.500 ms"));
  EXPECT_THAT(text, HasSubstr("- exceeded: step\\_time\\>+3%: changed by +20.0 %"));
}

TEST(DiffText, FitsIntoAPullRequest) {
  Diff diff = made_diff();
  for (auto& rows : diff.rows) {
    rows.clear();
    for (int row = 0; row < 5000; ++row) {
      rows.push_back({.key = std::string(1000, 'a') + std::to_string(row), .change_ns = 1e6});
    }
  }
  const std::string text = *diff_text(diff, {.format = TableFormat::markdown});
  EXPECT_LE(text.size(), 65'000U);
  EXPECT_THAT(text, HasSubstr("4950 more rows."));
}

TEST(LimitsJunit, HasACaseForEachLimit) {
  const std::vector<LimitResult> limits = {
      {LimitVerdict::kept, "step_time>+3%: changed by +1.0 %"},
      {LimitVerdict::exceeded, "kernel:a<\"b\">>+5%: changed by +9.0 %"},
      {LimitVerdict::inconclusive, "gpu_idle>+5%: no interval"}};
  EXPECT_EQ(limits_junit(limits),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuite name=\"tbtrace diff\" tests=\"3\" failures=\"1\" skipped=\"1\">\n"
            "  <testcase classname=\"tbtrace.diff\" name=\"step_time&gt;+3%\"></testcase>\n"
            "  <testcase classname=\"tbtrace.diff\" name=\"kernel:a&lt;&quot;b&quot;&gt;&gt;+5%\">"
            "<failure message=\"kernel:a&lt;&quot;b&quot;&gt;&gt;+5%: changed by +9.0 %\"/>"
            "</testcase>\n"
            "  <testcase classname=\"tbtrace.diff\" name=\"gpu_idle&gt;+5%\">"
            "<skipped message=\"gpu_idle&gt;+5%: no interval\"/></testcase>\n"
            "</testsuite>\n");
}

TEST(DiffText, HasAllRowsAsCsv) {
  const std::string text =
      *diff_text(made_diff(), {.by = {DiffBy::op}, .format = TableFormat::csv});
  EXPECT_THAT(text, HasSubstr("by,key,base_count"));
  EXPECT_THAT(text, HasSubstr("operator,aten::relu"));
}

TEST(DiffText, AddsUpAsJson) {
  const std::string json =
      *diff_text(made_diff(), {.by = {DiffBy::op}, .format = TableFormat::json});
  const auto tree = fixtures::parse_json_tree(json);
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->find("schema")->text, "tbtrace.diff/1");
  EXPECT_EQ(tree->find("comparable")->text, comparable_name(Comparable::warning));
  EXPECT_EQ(tree->find("verdict")->text, diff_verdict_name(DiffVerdict::slower));
  std::int64_t sum = std::stoll(tree->find("unattributed_ns")->find("operator")->text);
  for (const auto& row : tree->find("rows")->items) {
    EXPECT_EQ(diff_by_named(row.find("by")->text), DiffBy::op);
    sum += std::stoll(row.find("change_ns")->text);
  }
  EXPECT_EQ(sum, 2'000'000);
}

TEST(DiffRowsReport, SaysWhatIsOnOneSideOnly) {
  const AnalysisReport report = diff_rows_report(made_diff(), DiffBy::op);
  EXPECT_EQ(std::get<std::string>(report.table.rows[0][0]), diff_by_name(DiffBy::op));
  EXPECT_EQ(report.table.rows[0][12], Cell());
  EXPECT_EQ(report.table.rows[1][12], Cell(std::string("new")));
}

TEST(DiffRowsReport, NamesTheOperatorsInAFusedKernel) {
  Diff diff = made_diff();
  diff.rows[static_cast<std::size_t>(DiffBy::op)][1].fuses = {"aten::gelu", "aten::view"};
  const AnalysisReport report = diff_rows_report(diff, DiffBy::op);
  EXPECT_EQ(report.table.rows[0].back(), Cell());
  EXPECT_EQ(report.table.rows[1].back(), Cell(std::string("aten::gelu; aten::view")));
}

TEST(DiffQuantitiesReport, HasBothSidesAndTheInterval) {
  Diff diff = made_diff();
  diff.quantities[0].low = 0.4;
  diff.quantities[0].high = 0.6;
  const AnalysisReport report = diff_quantities_report(diff);
  EXPECT_EQ(report.table.columns, std::vector<std::string>({"name", "base", "new", "low", "high"}));
  EXPECT_EQ(report.table.rows[0],
            std::vector<Cell>({std::string("gpu_idle_ns"), 2e6, 3e6, 0.4, 0.6}));
  EXPECT_EQ(report.table.rows[1][1], Cell());
}

TEST(RunFigures, HaveTheMeanOfTheirSteps) {
  RunFigures run;
  EXPECT_EQ(run.mean_step_ns(), 0);
  run.step_ns = {10, 20};
  EXPECT_EQ(run.mean_step_ns(), 15);
}

}  // namespace
}  // namespace tbtrace
