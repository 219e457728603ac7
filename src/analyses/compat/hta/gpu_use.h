// Device use as HolisticTraceAnalysis computes it.
// Results are plain values.
// Source: HolisticTraceAnalysis 0.5.0, hta/analyzers/{breakdown,communication}_analysis.py.
#pragma once

#include <optional>
#include <vector>

#include <tbtrace/gpu.h>
#include <tbtrace/trace.h>

#include "analyses/compat/hta/queues.h"

namespace tbtrace::analyses {

/// `device` is 0. The row for everything has times except idle time by cause, and `busy_ns` also
/// has rows of no class. Rows of streams have idle time by cause, which may be negative, and queue
/// changes; `activities` counts the rows between which there are gaps.
struct HtaGpuUse : GpuUse {
  /// For streams with launches that HolisticTraceAnalysis knows.
  std::optional<QueueChanges> queue_changes = {};
};

/// One row for everything, or one per number of a stream. Not rounded to microseconds; classes by
/// the names of activities, gaps after the previous row of a stream instead of after the last one
/// that ended, queues by change points. Empty without device rows. Fails as hta_rows(). Needs
/// ArgumentGroup::placement.
Result<std::vector<HtaGpuUse>> hta_gpu_use(const Trace& trace, const GpuOptions& options = {});

/// The same as rows of `tbtrace.gpu/1`, which also have the columns of exact figures. Fails if
/// steps are chosen.
Result<AnalysisReport> hta_gpu_report(const Trace& trace, const GpuOptions& options = {});

}  // namespace tbtrace::analyses
