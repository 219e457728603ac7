// The plugin's memory view as the rows of `tbtrace.memory/1`.
#include <initializer_list>
#include <optional>
#include <utility>

#include "analyses/compat/plugin/memory.h"
#include "base/bounded_sum.h"
#include "report/optional_cell.h"
#include "report/source_report.h"

namespace tbtrace::analyses {
namespace {

Cell time_cell(const std::optional<std::int64_t>& time_ns, std::int64_t origin_ns) {
  return time_ns ? Cell(bounded(WideInteger{*time_ns} - origin_ns)) : Cell();
}

void begin_report(AnalysisReport& report, std::initializer_list<std::string> columns) {
  report.table.columns = {"rank", "device", "device_name"};
  report.shown = {"rank", "device_name"};
  report.table.columns.insert(report.table.columns.end(), columns);
  report.shown.insert(report.shown.end(), columns);
}

void show_events(const Trace& trace, AnalysisReport& report) {
  begin_report(report, {"operator", "bytes", "allocated_at_ns", "freed_at_ns"});
  for (PluginMemoryEvent& event : plugin_memory(trace).events) {
    report.table.rows.push_back({Cell(), report::device_cell(event.device), std::move(event.device),
                                 std::move(event.op), event.bytes,
                                 time_cell(event.allocated_at_ns, trace.first_time_ns()),
                                 time_cell(event.freed_at_ns, trace.first_time_ns())});
  }
}

void show_rows(const Trace& trace, AnalysisReport& report) {
  begin_report(report,
               {"operator", "calls", "size_increase_bytes", "self_size_increase_bytes",
                "allocations", "self_allocations", "allocated_bytes", "self_allocated_bytes"});
  for (PluginMemoryRow& row : plugin_memory(trace).rows) {
    report.table.rows.push_back({Cell(), report::device_cell(row.device), std::move(row.device),
                                 std::move(row.op), row.calls, row.increase_bytes,
                                 row.self_increase_bytes, row.allocations, row.self_allocations,
                                 row.allocated_bytes, row.self_allocated_bytes});
  }
}

void show_curve(const Trace& trace, AnalysisReport& report) {
  begin_report(report, {"at_ns", "allocated_bytes", "reserved_bytes"});
  for (PluginMemoryPoint& point : plugin_memory(trace).curve) {
    report.table.rows.push_back({Cell(), report::device_cell(point.device), std::move(point.device),
                                 time_cell(point.at_ns, trace.first_time_ns()),
                                 point.allocated_bytes, point.reserved_bytes});
  }
}

}  // namespace

Result<AnalysisReport> plugin_memory_report(const Trace& trace, const MemoryOptions& options) {
  if (options.steps) {
    return Status(StatusCode::invalid_argument,
                  "torch-tb-profiler has no memory figures of chosen steps; choose exact figures "
                  "or all steps");
  }
  AnalysisReport report;
  report.schema = "tbtrace.memory/1";
  report.source = report::source_report(trace);
  switch (options.view) {
    case MemoryView::curve:
      show_curve(trace, report);
      break;
    case MemoryView::allocations:
      show_events(trace, report);
      break;
    case MemoryView::peak:
    case MemoryView::alive:
      show_rows(trace, report);
      break;
  }
  const Cell rank = report::optional_cell(trace.identity().rank);
  for (std::vector<Cell>& row : report.table.rows) row.front() = rank;
  return report;
}

}  // namespace tbtrace::analyses
