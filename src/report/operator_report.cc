#include "report/operator_report.h"

#include <string>

namespace tbtrace::report {

Json shapes_cell(const OperatorRow& row) {
  return {row.input_shapes.empty() ? "[]" : row.input_shapes};
}

std::vector<std::size_t> shown_rows(std::span<const OperatorRow> rows,
                                    std::vector<std::size_t> order, const TableOptions& options) {
  if (options.top_level_events_only) {
    std::erase_if(order, [&](std::size_t row) { return rows[row].has_cpu_parent; });
  }
  if (options.row_limit >= 0 && order.size() > static_cast<std::size_t>(options.row_limit)) {
    order.resize(static_cast<std::size_t>(options.row_limit));
  }
  return order;
}

Table operator_table(std::span<const OperatorRow> rows, std::span<const std::size_t> order) {
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
  for (const std::size_t number : order) {
    const OperatorRow& row = rows[number];
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
