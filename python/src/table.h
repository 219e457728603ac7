// What the methods of a trace return: a table that Python sees as text, as HTML, as dictionaries,
// and as a stream of Arrow.
// To add a kind of table, implement TableData. Immutable: any thread may read one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
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
  /// Rows from `first` on, at most `count`.
  virtual Table rows(std::size_t first, std::size_t count) const = 0;
  /// The columns that people see, in their order.
  virtual std::vector<std::string> shown() const { return columns(); }
  virtual AnalysisReport::Totals totals() const { return {}; }
  virtual std::vector<std::string> notes() const { return {}; }
  virtual SourceReport source() const { return {}; }
  /// As the command line prints it.
  virtual Result<std::string> text(const ReportOptions& options) const = 0;
  virtual ArrowTable arrow() const;
};

/// The table of an analysis.
class ReportTable : public TableData {
 public:
  explicit ReportTable(AnalysisReport report) : report_(std::move(report)) {}

  const std::string& schema() const override { return report_.schema; }
  std::vector<std::string> columns() const override { return report_.table.columns; }
  std::size_t size() const override { return report_.table.rows.size(); }
  Table rows(std::size_t first, std::size_t count) const override;
  std::vector<std::string> shown() const override;
  AnalysisReport::Totals totals() const override { return report_.totals; }
  std::vector<std::string> notes() const override { return report_.notes; }
  SourceReport source() const override { return report_.source; }
  Result<std::string> text(const ReportOptions& options) const override;
  ArrowTable arrow() const override;

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

/// A table for a notebook: the first rows, as many as `most`. Texts are escaped.
std::string html_table(const TableData& data, std::size_t most);

}  // namespace tbtrace::python
