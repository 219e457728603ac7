#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/lines.h>
#include <tbtrace/modules.h>

#include "analyses/modules/model_rows.h"
#include "report/table_columns.h"
#include "report/totals.h"

namespace tbtrace::analyses {
namespace {

using testing::Contains;
using testing::Not;

/// Two blocks with a layer each, what comes after them, a kernel and memory.
Trace model(bool with_kernel) {
  ModelRows rows;
  rows.module("Net_0", 0, 100);
  for (std::int64_t block = 0; block < 2; ++block) {
    const std::string number = std::to_string(block);
    rows.module("Block_" + number, 10 + 40 * block, 30);
    rows.module("Linear_" + number, 15 + 40 * block, 20);
    rows.op("aten::addmm", 16 + 40 * block, 10, block, "[[4], [8, 3], [3, 4]]");
  }
  rows.op("aten::sum", 200, 5);
  if (with_kernel) {
    fixtures::add(rows.builder(), {.category = "cuda_runtime",
                                   .name = "cudaLaunchKernel",
                                   .start = 18,
                                   .duration = 2,
                                   .correlation = 1});
    fixtures::add(rows.builder(), {.category = "kernel",
                                   .name = "gemm",
                                   .start = 30,
                                   .duration = 7,
                                   .thread = 7,
                                   .process = 0,
                                   .correlation = 1});
  }
  return rows.finished();
}

const Cell& cell(const AnalysisReport& report, std::size_t row, std::string_view column) {
  return report.table.rows[row][*report::column_named(report.table, column)];
}

std::int64_t sum_of(const AnalysisReport& report, std::string_view column) {
  std::int64_t sum = 0;
  for (std::size_t row = 0; row < report.table.rows.size(); ++row) {
    sum += std::get<std::int64_t>(cell(report, row, column));
  }
  return sum;
}

TEST(ModuleReport, AddsUpHoweverItIsGrouped) {
  const Trace trace = model(true);
  for (const ModuleGrouping group_by :
       {ModuleGrouping::module, ModuleGrouping::type, ModuleGrouping::layer}) {
    for (const std::optional<std::size_t> depth :
         {std::optional<std::size_t>(), std::optional<std::size_t>(1)}) {
      const AnalysisReport report = *modules_report(trace, {{}, group_by, depth});
      EXPECT_EQ(Cell(sum_of(report, "self_cpu_time_ns")),
                *report::total_named(report.totals, "cpu_time_total_ns"));
      EXPECT_EQ(Cell(sum_of(report, "self_device_time_ns")),
                *report::total_named(report.totals, "device_time_total_ns"));
      EXPECT_EQ(cell(report, report.table.rows.size() - 1, "path"),
                Cell(std::string("[unattributed]")));
    }
  }
}

TEST(ModuleReport, IsATreeForPeople) {
  const AnalysisReport report = *modules_report(model(false));
  ASSERT_TRUE(report.tree);
  EXPECT_EQ(cell(report, 2, "name"), Cell(std::string("Linear_0")));
  EXPECT_EQ(cell(report, 2, "path"), Cell(std::string("Net_0.Block_0.Linear_0")));
  EXPECT_EQ(cell(report, 2, "depth"), Cell(std::uint64_t{2}));
  EXPECT_EQ(cell(report, 2, "macs"), Cell(std::uint64_t{8 * 3 * 4}));
  EXPECT_THAT(report.shown, Not(Contains("device_time_total_ns"))) << "there is no device";
  EXPECT_THAT(modules_report(model(true))->shown, Contains("device_time_total_ns"));
}

TEST(ModuleReport, OfSeveralInputsHasNoSumOfParameters) {
  std::vector<AnalysisReport> reports;
  reports.push_back(*modules_report(model(false)));
  EXPECT_EQ(*report::total_named(reports[0].totals, "parameters"), Cell(std::uint64_t{2 * 16}));
  EXPECT_EQ(*report::total_named(reports[0].totals, "parameter_source"),
            Cell(std::string(parameter_source_name(ParameterSource::weights))));
  reports.push_back(*modules_report(model(false)));
  const AnalysisReport sum = join_reports(std::move(reports));
  EXPECT_EQ(*report::total_named(sum.totals, "parameters"), Cell());
  EXPECT_EQ(*report::total_named(sum.totals, "cpu_time_total_ns"), Cell(std::int64_t{2 * 105}));
}

TEST(ModuleReport, IsEmptyWithoutModules) {
  ModelRows rows;
  rows.op("aten::mm", 0, 10);
  const Trace trace = rows.finished();
  EXPECT_FALSE(has_modules(trace));
  EXPECT_TRUE(modules_report(trace)->table.rows.empty());
  EXPECT_TRUE(has_modules(model(false)));
}

TEST(LineReport, AddsUpAndSaysHowExactItIs) {
  ModelRows rows;
  rows.text(rows.op("aten::mm", 0, 10, -1, "[[2, 3], [3, 4]]"), Argument::call_stack,
            "model.py(3): forward;train.py(9): main");
  rows.op("aten::sum", 20, 5);
  const AnalysisReport report = *lines_report(rows.finished(), {.libraries = true});
  ASSERT_EQ(report.table.rows.size(), 3U);
  EXPECT_EQ(cell(report, 0, "file"), Cell(std::string("model.py")));
  EXPECT_EQ(cell(report, 0, "line"), Cell(std::int64_t{3}));
  EXPECT_EQ(cell(report, 0, "level"), Cell(std::string("line")));
  EXPECT_EQ(cell(report, 0, "macs"), Cell(std::uint64_t{24}));
  EXPECT_EQ(cell(report, 2, "file"), Cell(std::string("[unattributed]")));
  EXPECT_EQ(sum_of(report, "self_cpu_time_ns"), 15);
  EXPECT_EQ(*report::total_named(report.totals, "cpu_time_total_ns"), Cell(std::int64_t{15}));
}

}  // namespace
}  // namespace tbtrace::analyses
