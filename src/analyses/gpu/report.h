// Device use as the rows of `tbtrace.gpu/1`, in any definition.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <tbtrace/gpu.h>
#include <tbtrace/tables.h>
#include <tbtrace/trace.h>

#include "analyses/attribution/work_times.h"
#include "base/bounded_sum.h"
#include "base/share.h"
#include "report/optional_cell.h"
#include "report/source_report.h"

namespace tbtrace::analyses {

/// The share of busy time is that of all windows together.
AnalysisReport::Totals joined_gpu_totals(const AnalysisReport::Totals& sums, const Table& rows);

GpuOptions gpu_options(const OptionValues& values);

/// The option `kernel_wait_limit_ns`.
OptionDescription kernel_wait_limit_option();

template <typename Use>
struct GpuColumn {
  const char* name;
  int place;                  ///< among the columns that people see; 0: not one of them
  Cell (*value)(const Use&);  ///< nullptr: no row has a value
};

template <auto Member>
Cell field(const GpuUse& use) {
  return use.*Member;
}

/// `Use` is a GpuUse. The totals are those of all devices; windows of devices are different times
/// of one device each.
template <typename Use>
AnalysisReport gpu_report_of(const Trace& trace, std::span<const Use> use,
                             std::span<const GpuColumn<Use>> columns) {
  AnalysisReport report;
  report.schema = "tbtrace.gpu/1";
  report.table.columns = {"rank"};
  report.shown = {"rank"};
  report.table.rows.resize(use.size(), {report::optional_cell(trace.identity().rank)});
  for (const GpuColumn<Use>& column : columns) {
    report.table.columns.emplace_back(column.name);
    for (std::size_t row = 0; row < use.size(); ++row) {
      report.table.rows[row].push_back(column.value == nullptr ? Cell() : column.value(use[row]));
    }
  }
  std::vector<GpuColumn<Use>> shown(columns.begin(), columns.end());
  std::erase_if(shown, [](const GpuColumn<Use>& column) { return column.place == 0; });
  std::ranges::stable_sort(shown, {}, &GpuColumn<Use>::place);
  for (const GpuColumn<Use>& column : shown) report.shown.emplace_back(column.name);
  WideInteger window = 0;
  WideInteger busy = 0;
  WideInteger idle = 0;
  for (const GpuUse& each : use) {
    window += each.window_ns;
    busy += each.busy_ns;
    idle += each.idle_ns;
  }
  report.totals = {{"window_ns", bounded(window)},
                   {"busy_ns", bounded(busy)},
                   {"idle_ns", bounded(idle)},
                   {"busy_share", share(bounded(busy), bounded(window))}};
  report.joined_totals = joined_gpu_totals;
  report.notes = work_time_notes(trace);
  report.source = report::source_report(trace);
  return report;
}

}  // namespace tbtrace::analyses
