// Device use as HolisticTraceAnalysis computes it.
// Results are plain values.
// Source: HolisticTraceAnalysis 0.5.0, hta/analyzers/{breakdown,communication}_analysis.py.
#pragma once

#include <vector>

#include <tbtrace/gpu_use.h>
#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// One row for everything, or one per number of a stream; GpuUse says what is in which. Empty
/// without device rows. Fails as hta_rows().
Result<std::vector<GpuUse>> hta_gpu_use(const Trace& trace, const GpuUseOptions& options);

}  // namespace tbtrace::analyses
