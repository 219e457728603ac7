// Kernels and their launches as HolisticTraceAnalysis has them, without its rounding to
// microseconds and with the last step.
// Results own their texts.
// Source: HolisticTraceAnalysis 0.5.0, hta/analyzers/{breakdown,cuda_kernel}_analysis.py.
#pragma once

#include <vector>

#include <tbtrace/kernels.h>
#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// Its kernel breakdown: every event with a `stream` counts, so memcpys, memsets and `Stream Wait
/// Event` do too; classes by name. By name only; fails for other options and as hta_rows(). Needs
/// ArgumentGroup::placement.
Result<KernelSummary> hta_kernel_summary(const Trace& trace, const KernelsOptions& options = {});

/// The same as rows of `tbtrace.kernels/1`, with the class of each name.
Result<AnalysisReport> hta_kernel_report(const Trace& trace, const KernelsOptions& options = {});

/// Its launch statistics: rows that any call with the same correlation launched, also memcpys and
/// memsets, if the call is one of the five that it knows; without operators and steps. Fails as
/// hta_rows(), and if steps are chosen.
Result<std::vector<KernelLaunch>> hta_kernel_launches(const Trace& trace,
                                                      const KernelsOptions& options = {});

/// The same as rows of `tbtrace.kernels/1`.
Result<AnalysisReport> hta_kernel_launch_report(const Trace& trace,
                                                const KernelsOptions& options = {});

}  // namespace tbtrace::analyses
