// Findings as the rows of `tbtrace.check/1`.
#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <tbtrace/checks.h>

#include "analyses/checks/list.h"
#include "report/optional_cell.h"
#include "report/source_report.h"
#include "report/table_list.h"

namespace tbtrace {
namespace {

using report::optional_cell;
using report::text_cell;

constexpr std::size_t kSeverities = 3;

std::vector<Cell> row_of(const std::string& input, const CheckFinding& finding) {
  return {text_cell(input),
          std::string(check_severity_name(finding.severity)),
          finding.id,
          finding.count,
          text_cell(finding.example),
          optional_cell(finding.example_at_ns),
          optional_cell(finding.example_offset),
          text_cell(finding.cause),
          text_cell(finding.remedy)};
}

}  // namespace

std::string_view check_severity_name(CheckSeverity severity) {
  constexpr std::array<std::string_view, kSeverities> kNames = {"error", "warning", "info"};
  return kNames[static_cast<std::size_t>(severity)];
}

CheckedInput checked_input(const std::string& input, const Trace& trace) {
  return {input, trace_checks(trace), report::source_report(trace)};
}

AnalysisReport checks_report(std::span<const CheckedInput> inputs) {
  AnalysisReport report;
  report.schema = analyses::check_table().schema;
  report.table.columns = analyses::check_table().column_names();
  report.shown = {"severity", "id", "count", "example", "cause", "remedy"};
  if (inputs.size() > 1) report.shown.insert(report.shown.begin(), "input");
  std::array<std::uint64_t, kSeverities> counts = {};
  std::array<std::vector<std::vector<Cell>>, 1 + kSeverities> rows;  // first recovered
  for (const CheckedInput& input : inputs) {
    report::add_source(report.source, input.source);
    for (const CheckFinding& finding : input.findings) {
      const auto severity = static_cast<std::size_t>(finding.severity);
      const bool comes_first = finding.id == kRecoveredTrace;
      rows[comes_first ? 0 : 1 + severity].push_back(row_of(input.input, finding));
      ++counts[severity];
    }
  }
  for (auto& alike : rows) {
    std::ranges::move(alike, std::back_inserter(report.table.rows));
  }
  report.totals = {{"errors", counts[0]}, {"warnings", counts[1]}, {"infos", counts[2]}};
  return report;
}

bool has_error_or_warning(std::span<const CheckedInput> inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [](const CheckedInput& input) {
    return std::any_of(
        input.findings.begin(), input.findings.end(),
        [](const CheckFinding& finding) { return finding.severity != CheckSeverity::info; });
  });
}

}  // namespace tbtrace
