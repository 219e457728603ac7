#include "report/operator_report.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tbtrace::report {
namespace {

using testing::ElementsAre;

/// The cell of a column by its name.
const Cell& cell(const Table& table, std::size_t row, std::string_view column) {
  for (std::size_t number = 0; number < table.columns.size(); ++number) {
    if (table.columns[number] == column) return table.rows[row][number];
  }
  throw std::out_of_range(std::string(column));
}

Table table_of(std::vector<OperatorRow> rows, const RowOrder& order, std::int64_t limit = -1) {
  const OperatorRows stored = {.rows = std::move(rows), .use_device = {}};
  StoredRows source(stored);
  return operator_table(source, order, {.row_limit = limit});
}

std::int64_t integer(const Table& table, std::string_view column) {
  return std::get<std::int64_t>(cell(table, 0, column));
}

TEST(OperatorTable, HasEachFieldUnderItsName) {
  OperatorRow row;
  row.key = "aten::mm";
  row.overload_name = "out";
  row.count = 1;
  row.is_user_annotation = true;
  row.device_type = DeviceType::privateuse1;
  row.cpu_time_total = {0.5, 2};
  row.self_cpu_time_total = {0.5, 3};
  row.device_time_total = {0.5, 4};
  row.self_device_time_total = {0.5, 5};
  row.cpu_memory_usage_bytes = -6;
  row.self_cpu_memory_usage_bytes = 7;
  row.device_memory_usage_bytes = 8;
  row.self_device_memory_usage_bytes = 9;
  row.flops = 10;
  row.input_shapes = "[[2]]";
  row.stack = {"f", "g"};
  const Table table = table_of({row}, RowOrder(1));
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(std::get<std::string>(cell(table, 0, "key")), "aten::mm");
  EXPECT_EQ(std::get<std::string>(cell(table, 0, "overload_name")), "out");
  EXPECT_EQ(integer(table, "count"), 1);
  EXPECT_TRUE(std::get<bool>(cell(table, 0, "is_user_annotation")));
  EXPECT_EQ(std::get<std::string>(cell(table, 0, "device_type")), "PrivateUse1");
  EXPECT_EQ(integer(table, "cpu_time_total_ns"), 2);
  EXPECT_EQ(integer(table, "self_cpu_time_total_ns"), 3);
  EXPECT_EQ(integer(table, "device_time_total_ns"), 4);
  EXPECT_EQ(integer(table, "self_device_time_total_ns"), 5);
  EXPECT_EQ(integer(table, "cpu_memory_usage_bytes"), -6);
  EXPECT_EQ(integer(table, "self_cpu_memory_usage_bytes"), 7);
  EXPECT_EQ(integer(table, "device_memory_usage_bytes"), 8);
  EXPECT_EQ(integer(table, "self_device_memory_usage_bytes"), 9);
  EXPECT_EQ(std::get<std::uint64_t>(cell(table, 0, "flops")), 10u);
  EXPECT_EQ(std::get<Json>(cell(table, 0, "input_shapes")).text, "[[2]]");
  EXPECT_THAT(std::get<std::vector<std::string>>(cell(table, 0, "stack")), ElementsAre("f", "g"));
}

TEST(OperatorTable, HasTheShownRowsInTheirOrder) {
  std::vector<OperatorRow> rows(3);
  for (std::size_t row = 0; row < 3; ++row) rows[row].key = std::to_string(row);
  const Table table = table_of(rows, RowOrder(std::vector<std::size_t>{2, 0, 1}), 2);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(std::get<std::string>(cell(table, 0, "key")), "2");
  EXPECT_EQ(std::get<std::string>(cell(table, 1, "key")), "0");
}

TEST(OperatorTable, HasAListOfShapesEvenIfThereAreNone) {
  EXPECT_EQ(shapes_cell(OperatorRow()).text, "[]");
}

}  // namespace
}  // namespace tbtrace::report
