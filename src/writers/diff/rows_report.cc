#include <optional>
#include <string>
#include <vector>

#include <tbtrace/diff.h>

#include "report/optional_cell.h"

namespace tbtrace {
namespace {

Cell number_cell(const std::optional<double>& value) { return value ? Cell(*value) : Cell(); }

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : "; ") + name;
  return text;
}

/// On which side alone a row is; empty if it is on both.
std::string only_on(const DiffRow& row) {
  if (!row.matched_by.empty()) return {};
  return row.base_ns == 0 && row.base_count == 0 ? "new" : "base";
}

}  // namespace

AnalysisReport diff_rows_report(const Diff& diff, DiffBy by) {
  AnalysisReport report;
  report.schema = "tbtrace.diff/1";
  report.table.columns = {"by",     "key",        "base_count", "new_count", "base_ns",
                          "new_ns", "change_ns",  "low_ns",     "high_ns",   "verdict",
                          "share",  "matched_by", "only_on",    "base_key",  "fuses"};
  report.shown = {"key",       "change_ns", "share",   "base_ns",    "new_ns",   "base_count",
                  "new_count", "only_on",   "verdict", "matched_by", "base_key", "fuses"};
  for (const DiffRow& row : diff.rows[static_cast<std::size_t>(by)]) {
    report.table.rows.push_back(
        {std::string(diff_by_name(by)), row.key, row.base_count, row.new_count, row.base_ns,
         row.new_ns, row.change_ns, number_cell(row.low_ns), number_cell(row.high_ns),
         std::string(diff_verdict_name(row.verdict)), number_cell(row.share),
         report::text_cell(row.matched_by), report::text_cell(only_on(row)),
         report::text_cell(row.base_key), report::text_cell(joined(row.fuses))});
  }
  return report;
}

AnalysisReport diff_quantities_report(const Diff& diff) {
  AnalysisReport report;
  report.schema = "tbtrace.diff/1";
  report.table.columns = {"name", "base", "new", "low", "high"};
  for (const DiffQuantity& quantity : diff.quantities) {
    report.table.rows.push_back({std::string(quantity.name), number_cell(quantity.base_value),
                                 number_cell(quantity.new_value), number_cell(quantity.low),
                                 number_cell(quantity.high)});
  }
  return report;
}

}  // namespace tbtrace
