// What the methods of a trace return: a table that Python sees as text, as HTML, as dictionaries,
// and as a stream of Arrow.
// To add a kind of table, implement TableData. Immutable: any thread may read one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/operators.h>
#include <tbtrace/report.h>
#include <tbtrace/status.h>

#include "arrow_table.h"

namespace tbtrace::python {

class TableData {
 public:
  TableData() = default;
  TableData(const TableData&) = delete;
  TableData& operator=(const TableData&) = delete;
  virtual ~TableData() = default;

  /// Such as `tbtrace.kernels/1`.
  virtual const std::string& schema() const = 0;
  virtual std::vector<std::string> columns() const = 0;
  virtual std::size_t size() const = 0;
  /// Rows from `first` on, at most `count`, with what else is known of the table but without
  /// totals.
  virtual AnalysisReport part(std::size_t first, std::size_t count) const = 0;
  /// The same of one column.
  virtual std::vector<Cell> cells(std::size_t column, std::size_t first,
                                  std::size_t count) const = 0;
  virtual AnalysisReport::Totals totals() const { return {}; }
  virtual std::vector<std::string> notes() const { return {}; }
  virtual SourceReport source() const { return {}; }
  /// As the command line prints it.
  virtual Result<std::string> text(const ReportOptions& options) const;
  /// For a notebook: the first rows, as many as `most`. Texts are escaped.
  virtual Result<std::string> html(std::int64_t most) const;
  virtual ArrowColumn arrow_column(std::size_t column) const = 0;

  ArrowTable arrow() const;
};

/// The table of an analysis.
class ReportTable : public TableData {
 public:
  explicit ReportTable(AnalysisReport report) : report_(std::move(report)) {}

  const AnalysisReport& report() const { return report_; }
  const std::string& schema() const override { return report_.schema; }
  std::vector<std::string> columns() const override { return report_.table.columns; }
  std::size_t size() const override { return report_.table.rows.size(); }
  AnalysisReport part(std::size_t first, std::size_t count) const override;
  std::vector<Cell> cells(std::size_t column, std::size_t first, std::size_t count) const override;
  AnalysisReport::Totals totals() const override { return report_.totals; }
  std::vector<std::string> notes() const override { return report_.notes; }
  SourceReport source() const override { return report_.source; }
  Result<std::string> text(const ReportOptions& options) const override;
  Result<std::string> html(std::int64_t most) const override;
  ArrowColumn arrow_column(std::size_t column) const override;

 private:
  AnalysisReport report_;
};

/// An operator summary, which prints itself as torch does.
class SummaryTable final : public ReportTable {
 public:
  // report() fails for options only, and there are none.
  explicit SummaryTable(OperatorSummary summary)
      : ReportTable(*summary.report()), summary_(std::move(summary)) {}

  const OperatorSummary& summary() const { return summary_; }

  Result<std::string> text(const ReportOptions& options) const override;

 private:
  OperatorSummary summary_;
};

/// Rows of another table that follow each other. Without totals, which would be those of all rows.
class TableSlice final : public TableData {
 public:
  /// The slice is within the table.
  TableSlice(std::shared_ptr<const TableData> table, std::size_t first, std::size_t count)
      : table_(std::move(table)), first_(first), count_(count) {}

  const std::string& schema() const override { return table_->schema(); }
  std::vector<std::string> columns() const override { return table_->columns(); }
  std::size_t size() const override { return count_; }
  AnalysisReport part(std::size_t first, std::size_t count) const override;
  std::vector<Cell> cells(std::size_t column, std::size_t first, std::size_t count) const override;
  std::vector<std::string> notes() const override { return table_->notes(); }
  SourceReport source() const override { return table_->source(); }
  ArrowColumn arrow_column(std::size_t column) const override;

 private:
  std::shared_ptr<const TableData> table_;
  std::size_t first_;
  std::size_t count_;
};

}  // namespace tbtrace::python
