// Members of the public result classes that use writers.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <tbtrace/operators.h>

#include "base/bounded_sum.h"
#include "io/text_sink.h"
#include "report/group_columns.h"
#include "report/row_order.h"
#include "report/table_list.h"
#include "wire/json_emitter.h"
#include "writers/tables/torch_table.h"

namespace tbtrace {
namespace {

Json threads_json(std::span<const ThreadTotal> threads) {
  Json made;
  wire::JsonEmitter json(made.text);
  json.begin_array();
  for (const ThreadTotal& thread : threads) {
    json.begin_object();
    json.key("process");
    json.text(thread.process);
    json.key("thread");
    json.text(thread.thread);
    json.key("name");
    json.text(thread.name);
    json.key("self_cpu_time_total_ns");
    json.integer(thread.self_cpu_time_total_ns);
    json.key("idle_ns");
    json.integer(thread.idle_ns);
    json.end_object();
  }
  json.end_array();
  return made;
}

/// Null where it was not recorded.
template <typename Number>
Cell recorded(bool was_recorded, Number value) {
  return was_recorded ? Cell(value) : Cell();
}

std::vector<Cell> cells_of(const OperatorRow& row, const OperatorRows& all) {
  return {row.key,
          row.overload_name,
          row.count,
          row.is_user_annotation,
          std::string(device_type_name(row.device_type)),
          row.cpu_time_total.ns,
          row.self_cpu_time_total.ns,
          row.device_time_total.ns,
          row.self_device_time_total.ns,
          recorded(all.profile_memory, row.cpu_memory_usage_bytes),
          recorded(all.profile_memory, row.self_cpu_memory_usage_bytes),
          recorded(all.profile_memory, row.device_memory_usage_bytes),
          recorded(all.profile_memory, row.self_device_memory_usage_bytes),
          recorded(all.with_flops, row.flops),
          Json{row.input_shapes.empty() ? "[]" : row.input_shapes},
          row.stack};
}

}  // namespace

Result<std::string> OperatorSummary::table(const TableOptions& options) const {
  if (Status known = check_table_options(options, TableFormat::text); !known.ok()) return known;
  report::StoredRows rows(rows_);
  const Result<report::RowOrder> order = report::sorted_rows(rows, options.sort_by);
  if (!order.ok()) return order.status();
  return io::text_of(
      [&](io::TextSink& out) { writers::write_torch_table(rows, *order, options, out); });
}

Result<AnalysisReport> OperatorSummary::report(const TableOptions& options) const {
  report::StoredRows rows(rows_);
  const Result<report::RowOrder> order = report::sorted_rows(rows, options.sort_by);
  if (!order.ok()) return order.status();
  AnalysisReport report;
  report.schema = analyses::ops_table().schema;
  report.table.columns = analyses::ops_table().column_names();
  report::ShownRows shown(rows, *order, options);
  const std::vector<report::GroupColumn> keys = report::group_columns(rows_.by);
  for (const report::GroupColumn& key : keys) report.table.columns.emplace_back(key.name);
  while (const std::optional<std::size_t> number = shown.next()) {
    const OperatorRow& row = rows.row(*number);
    std::vector<Cell>& cells = report.table.rows.emplace_back(cells_of(row, rows_));
    for (const report::GroupColumn& key : keys) {
      cells.push_back(row.values ? key.cell(*row.values) : Cell());
    }
  }
  report.notes = rows_.notes;
  report.totals = {{"self_cpu_time_total_ns", self_cpu_time_total().ns},
                   {"self_device_time_total_ns", self_device_time_total().ns}};
  report.facts = {{"figures", std::string(figures_name(figures_))}};
  if (figures_ == Figures::exact) {
    report.facts.emplace_back("window_ns", window_ns_);
    report.facts.emplace_back("threads", threads_json(threads_));
  }
  report.source = source_;
  return report;
}

Result<std::string> OperatorSummary::json(const TableOptions& options) const {
  const Result<AnalysisReport> made = report(options);
  return made.ok() ? report_text(*made, {.format = TableFormat::json}) : made.status();
}

RowCounts OperatorSummary::count_rows(const TableOptions& options) const {
  report::StoredRows rows(rows_);
  return report::RowSelection(rows, options).count();
}

Duration OperatorSummary::self_cpu_time_total() const {
  double us = 0;
  WideInteger ns = 0;
  for (const OperatorRow& row : rows_.rows) {
    us += row.self_cpu_time_total.us;
    ns += row.self_cpu_time_total.ns;
  }
  return {us, bounded(ns)};
}

Duration OperatorSummary::self_device_time_total() const {
  double us = 0;
  WideInteger ns = 0;
  for (const OperatorRow& row : rows_.rows) {
    if (!report::counts_as_device_time(rows_, row)) continue;
    us += row.self_device_time_total.us;
    ns += row.self_device_time_total.ns;
  }
  return {us, bounded(ns)};
}

}  // namespace tbtrace
