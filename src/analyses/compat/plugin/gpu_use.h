// What torch-tb-profiler's overview shows of each GPU.
// Results are plain values.
// Source: torch-tb-profiler, profiler/{gpu_metrics_parser,tensor_cores_parser}.py.
#pragma once

#include <optional>
#include <vector>

#include <tbtrace/gpu.h>
#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// Kernels in the time from the first step to the last one's end: the window, busy and idle time,
/// and what stands here.
struct PluginGpuUse : GpuUse {
  /// Mean over the window of the blocks per multiprocessor of the kernels that run, at most 1 at
  /// any time, 0 to 1; none if no kernel in the window has them.
  std::optional<double> sm_efficiency = {};
  /// Mean of the kernels' estimated occupancy, weighted by their time in the window, 0 to 100.
  std::optional<double> occupancy_percent = {};
  /// Share of kernels on tensor cores in the time of the kernels that operators launched, 0 to 1;
  /// none if operators launched no kernel at all, 0 if none on this device.
  std::optional<double> tensor_core_share = {};
};

/// One row per device with kernels, by number. Needs ArgumentGroup::launches.
std::vector<PluginGpuUse> plugin_gpu_use(const Trace& trace);

/// The same as rows of `tbtrace.gpu/1`, which also have the columns of exact figures. Fails if
/// steps are chosen, and for streams.
Result<AnalysisReport> plugin_gpu_report(const Trace& trace, const GpuOptions& options = {});

}  // namespace tbtrace::analyses
