// Tables of summaries and of event lists, as text and as columns.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/operators.h>
#include <tbtrace/report.h>

#include "fixtures/chrome_text.h"
#include "fixtures/read_text.h"

namespace tbtrace {
namespace {

using fixtures::op;
using fixtures::read;
using fixtures::trace_text;
using testing::ElementsAre;
using testing::HasSubstr;

/// `a` of 9 us with `b` of 4 us in it, then `b` of 2 us.
Trace three_operators() {
  return read(trace_text({op("a", "0", "9"), op("b", "1", "4"), op("b", "20", "2")}));
}

std::vector<std::string> first_column(const Result<Table>& table) {
  std::vector<std::string> texts;
  for (const std::vector<Cell>& row : table->rows) texts.push_back(std::get<std::string>(row[0]));
  return texts;
}

std::vector<std::string> first_column(const Result<AnalysisReport>& report) {
  return first_column(Result<Table>(report->table));
}

TEST(SummaryTotals, AreBoundedAtTheirEndOnly) {
  OperatorRows rows;
  for (const std::int64_t ns : {INT64_MAX, INT64_MAX, -INT64_MAX}) {
    OperatorRow& row = rows.rows.emplace_back();
    row.self_cpu_time_total.ns = ns;
    row.self_device_time_total.ns = ns;
    row.device_type = DeviceType::cuda;
  }
  const OperatorSummary summary(std::move(rows), Figures::torch);
  EXPECT_EQ(summary.self_cpu_time_total().ns, INT64_MAX);
  EXPECT_EQ(summary.self_device_time_total().ns, INT64_MAX);
}

TEST(SummaryTable, WhatWasNotRecordedIsNull) {
  OperatorRows rows;
  rows.rows = {{.key = "aten::mm", .cpu_memory_usage_bytes = 6, .flops = 10}};
  const auto json_of = [&](bool memory, bool flops) {
    rows.profile_memory = memory;
    rows.with_flops = flops;
    return *OperatorSummary(rows, Figures::torch).json();
  };
  EXPECT_THAT(json_of(false, true),
              testing::AllOf(HasSubstr(R"("cpu_memory_usage_bytes": null, )"
                                       R"("self_cpu_memory_usage_bytes": null, )"
                                       R"("device_memory_usage_bytes": null, )"
                                       R"("self_device_memory_usage_bytes": null, "flops": 10)")));
  EXPECT_THAT(json_of(true, false),
              testing::AllOf(HasSubstr(R"("cpu_memory_usage_bytes": 6)"),
                             HasSubstr(R"("self_device_memory_usage_bytes": 0, "flops": null)")));
}

TEST(SummaryTable, HasEachFieldUnderItsName) {
  OperatorRows rows;
  rows.profile_memory = true;
  rows.with_flops = true;
  rows.rows = {{.key = "aten::mm",
                .overload_name = "out",
                .count = 1,
                .is_user_annotation = true,
                .device_type = DeviceType::privateuse1,
                .cpu_time_total = {0.5, 2},
                .self_cpu_time_total = {0.5, 3},
                .device_time_total = {0.5, 4},
                .self_device_time_total = {0.5, 5},
                .cpu_memory_usage_bytes = -6,
                .self_cpu_memory_usage_bytes = 7,
                .device_memory_usage_bytes = 8,
                .self_device_memory_usage_bytes = 9,
                .flops = 10,
                .input_shapes = "",
                .stack = {"f", "g"}}};
  const Result<std::string> json = OperatorSummary(std::move(rows), Figures::torch).json();
  ASSERT_TRUE(json.ok());
  EXPECT_THAT(*json,
              HasSubstr(R"({"key": "aten::mm", "overload_name": "out", "count": 1, )"
                        R"("is_user_annotation": true, "device_type": "PrivateUse1", )"
                        R"("cpu_time_total_ns": 2, "self_cpu_time_total_ns": 3, )"
                        R"("device_time_total_ns": 4, "self_device_time_total_ns": 5, )"
                        R"("cpu_memory_usage_bytes": -6, "self_cpu_memory_usage_bytes": 7, )"
                        R"("device_memory_usage_bytes": 8, "self_device_memory_usage_bytes": 9, )"
                        R"("flops": 10, "input_shapes": [], "stack": ["f", "g"]})"));
}

TEST(SummaryTable, IsSortedAndCutAsAsked) {
  const OperatorSummary summary = operator_summary(three_operators());
  EXPECT_THAT(first_column(summary.report()), ElementsAre("a", "b"));
  EXPECT_THAT(first_column(summary.report({.sort_by = "count"})), ElementsAre("b", "a"));
  EXPECT_THAT(first_column(summary.report({.sort_by = "count", .row_limit = 1})), ElementsAre("b"));
  EXPECT_THAT(first_column(summary.report({.top_level_events_only = true})), ElementsAre("a"));
}

TEST(SummaryTable, FailsForOptionsThatDoNotExist) {
  const OperatorSummary summary = operator_summary(three_operators());
  EXPECT_THAT(summary.report({.sort_by = "speed"}).status().message(), HasSubstr("'speed'"));
  EXPECT_THAT(summary.table({.sort_by = "speed"}).status().message(), HasSubstr("'speed'"));
  EXPECT_THAT(summary.table({.time_unit = "min"}).status().message(), HasSubstr("'min'"));
  EXPECT_THAT(summary.json({.sort_by = "speed"}).status().message(), HasSubstr("'speed'"));
  EXPECT_THAT(check_table_options({.sort_by = "speed"}, TableFormat::csv).message(),
              HasSubstr("'speed'"));
  EXPECT_FALSE(check_table_options({.time_unit = "min"}, TableFormat::text).ok());
  EXPECT_TRUE(check_table_options({.time_unit = "min"}, TableFormat::csv).ok());
}

TEST(SummaryTable, AsTextHasTheTotalAtItsFoot) {
  const Result<std::string> table = operator_summary(three_operators()).table({.row_limit = 1});
  ASSERT_TRUE(table.ok());
  EXPECT_TRUE(table->ends_with("Self CPU time total: 11.000us\n")) << *table;
}

TEST(EventTable, HasItsColumns) {
  const Result<Table> table = events(three_operators()).report();
  ASSERT_TRUE(table.ok());
  EXPECT_THAT(first_column(table), ElementsAre("a", "b", "b"));
  for (const std::vector<Cell>& row : table->rows) {
    EXPECT_EQ(row.size(), table->columns.size());
  }
  EXPECT_TRUE(table_csv(*table).starts_with("name,overload_name,tid,start_ns,end_ns,parent,"));
}

TEST(EventTable, RefersToParentsByTheirRowInTheWholeList) {
  const Result<Table> table = events(three_operators()).report({.sort_by = "cpu_time_total"});
  const std::size_t parent = 5;
  ASSERT_EQ(table->columns[parent], "parent");
  EXPECT_EQ(std::get<std::int64_t>(table->rows[1][parent]), 0);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(table->rows[0][parent]));
}

TEST(EventTable, AsTextIsTorchs) {
  const EventList list = events(three_operators());
  const Result<std::string> table = list.table({.sort_by = "self_cpu_time_total"});
  ASSERT_TRUE(table.ok());
  EXPECT_THAT(*table, HasSubstr("Self CPU time total: 11.000us\n"));
  EXPECT_THAT(*table, testing::Not(HasSubstr("Input Shapes")));
  EXPECT_FALSE(list.table({.sort_by = "speed"}).ok());
  EXPECT_FALSE(list.report({.sort_by = "speed"}).ok());
}

TEST(EventTable, AsTextHasShapesAsSoonAsOneEventHas) {
  const EventList list = events(read(trace_text(
      {op("a", "0", "9"),
       op("b", "20", "5").arg("Input Dims", "[[2]]").arg("Input type", "[\"float\"]")})));
  const Result<std::string> table = list.table();
  ASSERT_TRUE(table.ok());
  EXPECT_THAT(*table, HasSubstr("Input Shapes"));
  EXPECT_THAT(*table, HasSubstr("  []  \n")) << "of the other";
}

}  // namespace
}  // namespace tbtrace
