#include "table.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <tbtrace/report.h>

#include "cell_columns.h"

namespace tbtrace::python {
namespace {

Table part_of(const Table& table, std::size_t first, std::size_t count) {
  Table part{.columns = table.columns, .rows = {}};
  const std::size_t begin = std::min(first, table.rows.size());
  const std::size_t end = begin + std::min(count, table.rows.size() - begin);
  part.rows.assign(table.rows.begin() + static_cast<std::ptrdiff_t>(begin),
                   table.rows.begin() + static_cast<std::ptrdiff_t>(end));
  return part;
}

/// torch's name of a column, which has no unit.
std::string torch_key(std::string_view column) {
  for (const std::string_view unit : {"_ns", "_bytes"}) {
    if (column.ends_with(unit)) column.remove_suffix(unit.size());
  }
  return std::string(column);
}

}  // namespace

ArrowTable TableData::arrow() const { return arrow_table(schema(), rows(0, size())); }

Table ReportTable::rows(std::size_t first, std::size_t count) const {
  return part_of(report_.table, first, count);
}

std::vector<std::string> ReportTable::shown() const {
  return report_.shown.empty() ? report_.table.columns : report_.shown;
}

Result<std::string> ReportTable::text(const ReportOptions& options) const {
  return report_text(report_, options);
}

ArrowTable ReportTable::arrow() const { return arrow_table(report_.schema, report_.table); }

Result<std::string> SummaryTable::text(const ReportOptions& options) const {
  const TableOptions table = {.sort_by = torch_key(options.sort_by),
                              .row_limit = options.row_limit};
  if (options.format == TableFormat::text) return summary_.table(table);
  const Result<AnalysisReport> report = summary_.report(table);
  if (!report.ok()) return report.status();
  return report_text(*report, {.format = options.format});
}

}  // namespace tbtrace::python
