// Members of the public result classes that use writers.
#include <tbtrace/analyses.h>

#include "base/bounded_sum.h"
#include "io/text_sink.h"
#include "report/operator_report.h"
#include "report/row_order.h"
#include "writers/tables/torch_table.h"

namespace tbtrace {

Result<std::string> OperatorSummary::table(const TableOptions& options) const {
  if (Status known = check_table_options(options, TableFormat::text); !known.ok()) return known;
  report::StoredRows rows(rows_);
  const Result<report::RowOrder> order = report::sorted_rows(rows, options.sort_by);
  if (!order.ok()) return order.status();
  return io::text_of(
      [&](io::TextSink& out) { writers::write_torch_table(rows, *order, options, out); });
}

Result<Table> OperatorSummary::report(const TableOptions& options) const {
  report::StoredRows rows(rows_);
  const Result<report::RowOrder> order = report::sorted_rows(rows, options.sort_by);
  if (!order.ok()) return order.status();
  return report::operator_table(rows, *order, options);
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
