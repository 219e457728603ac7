// The reports that a partial has of each source by itself.
// To add one, add a row to the list in source_reports.cc. Files have their columns, so new columns
// of a report need a new version of the file (wire/partial_frame.h) and a rule for those of the
// old.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <tbtrace/analysis_report.h>
#include <tbtrace/trace.h>

namespace tbtrace::partials {

enum class ReportId : std::uint8_t { steps, gpu_devices, gpu_streams, memory_peak, memory_alive };
inline constexpr std::size_t kReports = 5;

struct ReportRow {
  const char* name;  ///< in files
  Result<AnalysisReport> (*make)(const Trace& trace);
  /// AnalysisReport::joined_totals, which files do not have.
  AnalysisReport::Totals (*joined_totals)(const AnalysisReport::Totals& sums, const Table& rows);
};

const ReportRow& report_row(ReportId report);

/// The columns of such a report.
const std::vector<std::string>& report_columns(ReportId report);

}  // namespace tbtrace::partials
