#include <cstddef>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/modules.h>

#include "analyses/compat/plugin/modules.h"
#include "analyses/modules/model_rows.h"
#include "report/table_columns.h"

namespace tbtrace::analyses {
namespace {

const Cell& cell(const AnalysisReport& report, std::size_t row, std::string_view column) {
  return report.table.rows[row][*report::column_named(report.table, column)];
}

TEST(PluginModuleReport, HasThePluginsRows) {
  ModelRows rows;
  const EventId module = rows.module("Net_0", 0, 100);
  rows.number(module, Argument::python_id, 1);
  rows.number(module, Argument::python_module_id, 0);
  rows.op("aten::mm", 10, 30);
  const Trace trace = rows.finished();
  const std::vector<PluginModule> modules = plugin_modules(trace);
  const AnalysisReport report = plugin_module_report(trace);
  ASSERT_EQ(modules.size(), 1U);
  ASSERT_EQ(report.table.rows.size(), 1U);
  EXPECT_EQ(cell(report, 0, "name"), Cell(modules[0].name));
  EXPECT_EQ(cell(report, 0, "calls"), Cell(modules[0].occurrences));
  EXPECT_EQ(cell(report, 0, "host_duration_us"), Cell(modules[0].host_duration_us));
  EXPECT_EQ(cell(report, 0, "self_host_duration_us"), Cell(modules[0].self_host_duration_us));
}

TEST(PluginModuleReport, IsEmptyWithoutModules) {
  ModelRows rows;
  rows.op("aten::mm", 10, 30);
  EXPECT_TRUE(plugin_module_report(rows.finished()).table.rows.empty());
}

}  // namespace
}  // namespace tbtrace::analyses
