#include "partials/source_reports.h"

#include <array>
#include <utility>

#include <tbtrace/gpu_use.h>
#include <tbtrace/memory_use.h>
#include <tbtrace/step_breakdown.h>

#include "analyses/gpu/report.h"
#include "analyses/steps/report.h"
#include "trace/trace_builder.h"

namespace tbtrace::partials {
namespace {

constexpr std::array<ReportRow, kReports> kRows = {
    {{"steps", [](const Trace& trace) { return steps_report(trace, step_breakdown(trace)); },
      analyses::joined_step_totals},
     {"gpu.devices", [](const Trace& trace) { return gpu_report(trace); },
      analyses::joined_gpu_totals},
     {"gpu.streams", [](const Trace& trace) { return gpu_report(trace, {.by_stream = true}); },
      analyses::joined_gpu_totals},
     {"memory.peak", [](const Trace& trace) { return memory_report(trace); }, nullptr},
     {"memory.alive",
      [](const Trace& trace) { return memory_report(trace, {.view = MemoryView::alive}); },
      nullptr}}};

/// Those of a trace without events: the columns do not depend on the trace.
std::array<std::vector<std::string>, kReports> make_columns() {
  const Trace empty = std::move(TraceBuilder()).finish();
  std::array<std::vector<std::string>, kReports> columns;
  for (std::size_t report = 0; report < kReports; ++report) {
    columns[report] = kRows[report].make(empty)->table.columns;
  }
  return columns;
}

}  // namespace

const ReportRow& report_row(ReportId report) { return kRows[static_cast<std::size_t>(report)]; }

const std::vector<std::string>& report_columns(ReportId report) {
  static const std::array<std::vector<std::string>, kReports> kColumns = make_columns();
  return kColumns[static_cast<std::size_t>(report)];
}

}  // namespace tbtrace::partials
