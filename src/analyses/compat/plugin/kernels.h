// The kernel view of torch-tb-profiler.
// Results own their texts.
// Source: kineto tb_plugin, profiler/{kernel_parser,op_tree,tensor_cores_parser}.py at 94979607^.
#pragma once

#include <tbtrace/kernels.h>
#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// Its list of categories and of names for tensor cores; kernels without a value count as 0 in
/// weighted means; by launch only the kernels that its tree of operators reaches. By name or
/// launch; fails for other options. Needs ArgumentGroup::launches.
Result<KernelSummary> plugin_kernel_summary(const Trace& trace, const KernelsOptions& options = {});

/// The same as rows of `tbtrace.kernels/1`.
Result<AnalysisReport> plugin_kernel_report(const Trace& trace, const KernelsOptions& options = {});

}  // namespace tbtrace::analyses
