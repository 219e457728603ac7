// The rows of torch-tb-profiler's Module view in `tbtrace.modules/1`.
#include <cstdint>
#include <utility>
#include <vector>

#include "analyses/compat/plugin/modules.h"
#include "report/optional_cell.h"
#include "report/source_report.h"

namespace tbtrace::analyses {

AnalysisReport plugin_module_report(const Trace& trace) {
  AnalysisReport report;
  report.schema = "tbtrace.modules/1";
  report.table.columns = {"rank",
                          "name",
                          "id",
                          "depth",
                          "calls",
                          "operators",
                          "host_duration_us",
                          "self_host_duration_us",
                          "device_duration_us",
                          "self_device_duration_us",
                          "avg_duration_us"};
  report.shown = {"rank",
                  "name",
                  "calls",
                  "operators",
                  "host_duration_us",
                  "self_host_duration_us",
                  "device_duration_us",
                  "self_device_duration_us",
                  "avg_duration_us"};
  report.tree = {.name = "name", .path = "name", .depth = "depth"};
  const Cell rank = report::optional_cell(trace.identity().rank);
  for (const PluginModule& module : plugin_modules(trace)) {
    std::vector<Cell> row = {rank,
                             module.name,
                             module.id,
                             static_cast<std::uint64_t>(module.depth),
                             module.occurrences,
                             module.operators,
                             module.host_duration_us,
                             module.self_host_duration_us,
                             module.device_duration_us,
                             module.self_device_duration_us,
                             module.avg_duration_us};
    report.table.rows.push_back(std::move(row));
  }
  report.source = report::source_report(trace);
  return report;
}

}  // namespace tbtrace::analyses
