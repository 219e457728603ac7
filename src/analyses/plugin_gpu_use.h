// What torch-tb-profiler's overview shows of each GPU.
// Results are plain values.
// Source: torch-tb-profiler, profiler/{gpu_metrics_parser,tensor_cores_parser}.py.
#pragma once

#include <vector>

#include <tbtrace/gpu_use.h>
#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// One row per device with kernels, by number. Needs ArgumentGroup::launches.
std::vector<GpuUse> plugin_gpu_use(const Trace& trace);

}  // namespace tbtrace::analyses
