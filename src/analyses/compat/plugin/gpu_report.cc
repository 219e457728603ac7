// The plugin's device use as the rows of `tbtrace.gpu/1`.
#include "analyses/compat/plugin/gpu_use.h"
#include "analyses/gpu/report.h"
#include "report/optional_cell.h"

namespace tbtrace::analyses {
namespace {

Cell percent_of(const std::optional<double>& share) { return share ? Cell(100 * *share) : Cell(); }

template <auto Member>
Cell of(const PluginGpuUse& use) {
  return use.*Member;
}

constexpr GpuColumn<PluginGpuUse> kColumns[] = {
    {"device", true, of<&GpuUse::device>},
    {"stream", true, nullptr},
    {"window_ns", true, of<&GpuUse::window_ns>},
    {"busy_ns", false, of<&GpuUse::busy_ns>},
    {"busy_share", true, [](const PluginGpuUse& use) { return Cell(use.busy_share()); }},
    {"computation_ns", true, nullptr},
    {"communication_ns", false, nullptr},
    {"memory_ns", false, nullptr},
    {"overlap_ns", false, nullptr},
    {"exposed_communication_ns", true, nullptr},
    {"exposed_memory_ns", true, nullptr},
    {"idle_ns", true, of<&GpuUse::idle_ns>},
    {"idle_host_wait_ns", true, nullptr},
    {"idle_kernel_wait_ns", true, nullptr},
    {"idle_other_ns", true, nullptr},
    {"queue_length_mean", true, nullptr},
    {"queue_length_max", false, nullptr},
    {"sm_efficiency_percent", true,
     [](const PluginGpuUse& use) { return percent_of(use.sm_efficiency); }},
    {"occupancy_percent", true,
     [](const PluginGpuUse& use) { return report::optional_cell(use.occupancy_percent); }},
    {"tensor_core_percent", true,
     [](const PluginGpuUse& use) { return percent_of(use.tensor_core_share); }},
    {"activities", false, nullptr},
    {"launches", true, nullptr},
    {"short_kernels", true, nullptr},
    {"copied_bytes", false, nullptr},
    {"copy_bandwidth_bytes_per_s", false, nullptr}};

}  // namespace

Result<AnalysisReport> plugin_gpu_report(const Trace& trace, const GpuOptions& options) {
  if (options.steps) {
    return Status(StatusCode::invalid_argument, "only exact figures can be limited to steps");
  }
  if (options.by_stream) {
    return Status(StatusCode::invalid_argument,
                  "torch-tb-profiler has no figures of streams; group by device");
  }
  return gpu_report_of<PluginGpuUse>(trace, plugin_gpu_use(trace), kColumns);
}

}  // namespace tbtrace::analyses
