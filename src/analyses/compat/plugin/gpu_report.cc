// The plugin's device use as rows of `tbtrace.gpu/1`.
#include "analyses/compat/plugin/gpu_use.h"
#include "analyses/gpu/report.h"
#include "report/optional_cell.h"
#include "report/table_list.h"

namespace tbtrace::analyses {
namespace {

Cell percent_of(const std::optional<double>& share) { return share ? Cell(100 * *share) : Cell(); }

}  // namespace

Result<AnalysisReport> plugin_gpu_report(const Trace& trace, const GpuOptions& options) {
  if (options.steps) {
    return Status(StatusCode::invalid_argument, "only exact figures can be limited to steps");
  }
  if (options.by_stream) {
    return Status(StatusCode::invalid_argument,
                  "torch-tb-profiler has no figures of streams; group by device");
  }
  AnalysisReport report;
  report.table.columns = gpu_table().column_names("plugin");
  report.shown = report.table.columns;
  std::erase(report.shown, "busy_ns");
  const Cell rank = report::optional_cell(trace.identity().rank);
  const std::vector<PluginGpuUse> use = plugin_gpu_use(trace);
  for (const PluginGpuUse& each : use) {
    report.table.rows.push_back({rank, each.device, each.window_ns, each.busy_ns, each.busy_share(),
                                 each.idle_ns, percent_of(each.sm_efficiency),
                                 report::optional_cell(each.occupancy_percent),
                                 percent_of(each.tensor_core_share)});
  }
  finish_gpu_report(trace, {use.begin(), use.end()}, report);
  return report;
}

}  // namespace tbtrace::analyses
