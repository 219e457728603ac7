// The result of an analysis as rows: for people as an aligned text, for programs as CSV, JSON or
// Markdown with exact numbers. Plain values that own their texts.
// A report is of one schema (`tbtrace.gpu/1`); docs/formats/ has a page for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tbtrace/export.h>
#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/step_range.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

/// What is known about the traces that a result was computed from: sums over all of them.
struct SourceReport {
  std::map<std::string, std::uint64_t, std::less<>> issues;  ///< how often, by Issue::id
  LinkReport links;
};

struct AnalysisReport {
  using Totals = std::vector<std::pair<std::string, Cell>>;

  std::string schema;
  /// All rows, in the analysis's own order. Units are part of the column names: `_ns`, `_bytes`,
  /// `_percent` (0 to 100), `_share` and `utilization` (0 to 1).
  Table table;
  /// Over all rows. Those with a column's name form the last line of a text, the others follow it.
  Totals totals;
  std::string totals_label = "total";  ///< what that line is called, such as `mean`
  /// Totals without a column that people see only if they are not 0.
  std::vector<std::string> totals_if_any = {};
  /// What else is known of all rows; only JSON has it.
  Totals facts = {};
  /// The totals of several reports whose sums are `sums` and whose rows are `rows`. nullptr: the
  /// sums themselves.
  Totals (*joined_totals)(const Totals& sums, const Table& rows) = nullptr;
  /// The columns of rows that form a tree, each below the row around it. People see `name`,
  /// indented by `depth`, and in sorted rows `path` instead.
  struct Tree {
    std::string name;
    std::string path;
    std::string depth;
  };
  std::optional<Tree> tree;
  /// The columns that people see, in this order: where a line is too short the last ones are left
  /// out. A column without any value is left out as well.
  std::vector<std::string> shown;
  /// Sentences for people, below the table: what is missing, and how to get it.
  std::vector<std::string> notes;
  SourceReport source;
};

/// The rows of all reports, one after the other, with the totals and sources of all. They are of
/// one schema and were made with the same options. Without reports an empty one.
AnalysisReport join_reports(std::vector<AnalysisReport> reports);

/// The report of one of several inputs.
struct ReportOfInput {
  std::optional<std::int64_t> rank;
  std::string path;
  AnalysisReport report;
};

/// The same by rank, inputs without one last, then by path in natural order. `with_paths`: reports
/// get a first column `input` with the path, unless they have it.
AnalysisReport join_inputs(std::vector<ReportOfInput> inputs, bool with_paths);

struct ReportOptions {
  TableFormat format = TableFormat::text;
  /// A column; largest numbers first, texts in the order of their bytes, rows without a value last.
  /// Empty: the analysis's own order.
  std::string sort_by = {};
  /// Rows to show; -1: all.
  std::int64_t row_limit = -1;

  // Of a text; the other formats have all columns and full names.

  /// Characters of a line: texts are cut and the last columns left out to fit. 0: no limit.
  std::size_t width = 0;
  /// All columns that have a value, whatever the width.
  bool wide = false;
  /// Follows the number of columns that are left out, such as `--wide shows all`.
  std::string how_to_show_all_columns = {};
};

/// Makes a report, such as `gpu_report(trace, options)`.
using AnalyseTrace = std::function<Result<AnalysisReport>(const Trace& trace)>;

/// Fails if the reports of `analyse` lack the column to sort by, which so is known before any trace
/// is read: `analyse` makes the report of a trace without events, or with an empty step if it
/// selects `steps`. If it fails for that trace, nothing is checked. The column `input` passes,
/// because join_inputs() adds it.
Status check_report_options(const AnalyseTrace& analyse, const ReportOptions& options,
                            const std::optional<StepRange>& steps = std::nullopt);

/// The rows that `options` select, in their order. Fails if the column to sort by does not exist.
Result<Table> report_rows(const AnalysisReport& report, const ReportOptions& options = {});

/// The report in one of the four formats. Fails if the column to sort by does not exist.
Result<std::string> report_text(const AnalysisReport& report, const ReportOptions& options = {});

}  // namespace tbtrace
