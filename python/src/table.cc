#include "table.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <tbtrace/report.h>
#include <tbtrace/tables.h>

#include "cell_columns.h"
#include "event_table.h"

namespace tbtrace::python {
namespace {

/// Where `count` rows from `first` on end in a table of `size` rows.
std::size_t end_of(std::size_t first, std::size_t count, std::size_t size) {
  const std::size_t begin = std::min(first, size);
  return begin + std::min(count, size - begin);
}

/// The first column of tables of several inputs.
constexpr std::string_view kInput = "input";

ValueType column_type(std::string_view schema, std::string_view name) {
  if (schema == kEventsSchema) return event_column_type(name);
  if (name == kInput) return ValueType::text;
  const TableDescription* const table = table_of_schema(schema);
  const ColumnDescription* const column = table == nullptr ? nullptr : table->column(name);
  if (column == nullptr) {
    throw std::logic_error("the column " + std::string(name) + " of " + std::string(schema) +
                           " has no description");
  }
  return column->type;
}

/// torch's name of a column, which has no unit.
std::string torch_key(std::string_view column) {
  for (const std::string_view unit : {"_ns", "_bytes"}) {
    if (column.ends_with(unit)) column.remove_suffix(unit.size());
  }
  return std::string(column);
}

}  // namespace

Result<std::string> TableData::text(const ReportOptions& options) const {
  return report_text(part(0, size()), options);
}

Result<std::string> TableData::html(std::int64_t most) const {
  return report_html(part(0, size()), {.row_limit = most});
}

ArrowTable TableData::arrow() const {
  ArrowTable arrow{.schema = schema(), .rows = static_cast<std::int64_t>(size())};
  const std::size_t count = columns().size();
  for (std::size_t column = 0; column < count; ++column) {
    arrow.columns.push_back(arrow_column(column));
  }
  return arrow;
}

AnalysisReport ReportTable::part(std::size_t first, std::size_t count) const {
  AnalysisReport part;
  part.schema = report_.schema;
  part.table.columns = report_.table.columns;
  const std::size_t end = end_of(first, count, size());
  for (std::size_t row = first; row < end; ++row) {
    part.table.rows.push_back(report_.table.rows[row]);
  }
  part.tree = report_.tree;
  part.named_values = report_.named_values;
  part.shown = report_.shown;
  part.notes = report_.notes;
  part.source = report_.source;
  return part;
}

std::vector<Cell> ReportTable::cells(std::size_t column, std::size_t first,
                                     std::size_t count) const {
  std::vector<Cell> cells;
  const std::size_t end = end_of(first, count, size());
  for (std::size_t row = first; row < end; ++row) cells.push_back(report_.table.rows[row][column]);
  return cells;
}

Result<std::string> ReportTable::text(const ReportOptions& options) const {
  return report_text(report_, options);
}

Result<std::string> ReportTable::html(std::int64_t most) const {
  return report_html(report_, {.row_limit = most});
}

ArrowColumn ReportTable::arrow_column(std::size_t column) const {
  return python::arrow_column(column_type(report_.schema, report_.table.columns[column]),
                              report_.table, column);
}

Result<std::string> SummaryTable::text(const ReportOptions& options) const {
  const TableOptions table = {.sort_by = torch_key(options.sort_by),
                              .row_limit = options.row_limit};
  if (options.format == TableFormat::text) return summary_.table(table);
  const Result<AnalysisReport> report = summary_.report(table);
  if (!report.ok()) return report.status();
  return report_text(*report, {.format = options.format});
}

AnalysisReport TableSlice::part(std::size_t first, std::size_t count) const {
  return table_->part(first_ + first, end_of(first, count, count_) - std::min(first, count_));
}

std::vector<Cell> TableSlice::cells(std::size_t column, std::size_t first,
                                    std::size_t count) const {
  return table_->cells(column, first_ + first,
                       end_of(first, count, count_) - std::min(first, count_));
}

ArrowColumn TableSlice::arrow_column(std::size_t column) const {
  ArrowColumn arrow = table_->arrow_column(column);
  arrow.offset += static_cast<std::int64_t>(first_);
  if (arrow.nulls > 0) arrow.nulls = -1;
  arrow.rows = static_cast<std::int64_t>(count_);
  return arrow;
}

}  // namespace tbtrace::python
