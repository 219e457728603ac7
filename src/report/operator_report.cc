#include "report/operator_report.h"

#include <optional>
#include <string>

namespace tbtrace::report {

Json shapes_cell(const OperatorRow& row) {
  return {row.input_shapes.empty() ? "[]" : row.input_shapes};
}

Table operator_table(RowSource& rows, const RowOrder& order, const TableOptions& options) {
  Table table;
  table.columns = {"key",
                   "overload_name",
                   "count",
                   "is_user_annotation",
                   "device_type",
                   "cpu_time_total_ns",
                   "self_cpu_time_total_ns",
                   "device_time_total_ns",
                   "self_device_time_total_ns",
                   "cpu_memory_usage_bytes",
                   "self_cpu_memory_usage_bytes",
                   "device_memory_usage_bytes",
                   "self_device_memory_usage_bytes",
                   "flops",
                   "input_shapes",
                   "stack"};
  ShownRows shown(rows, order, options);
  while (const std::optional<std::size_t> number = shown.next()) {
    const OperatorRow& row = rows.row(*number);
    table.rows.push_back(
        {row.key, row.overload_name, row.count, row.is_user_annotation,
         std::string(device_type_name(row.device_type)), row.cpu_time_total.ns,
         row.self_cpu_time_total.ns, row.device_time_total.ns, row.self_device_time_total.ns,
         row.cpu_memory_usage_bytes, row.self_cpu_memory_usage_bytes, row.device_memory_usage_bytes,
         row.self_device_memory_usage_bytes, row.flops, shapes_cell(row), row.stack});
  }
  return table;
}

}  // namespace tbtrace::report
