// Tables in the figures of torch-tb-profiler, to compare with what it shows. The other tables of
// this library have exact figures, except operator_summary() and events(), which have torch's. Pure
// functions; results own all their data.
#pragma once

#include <span>
#include <string_view>

#include <tbtrace/export.h>
#include <tbtrace/gpu.h>
#include <tbtrace/kernels.h>
#include <tbtrace/memory.h>
#include <tbtrace/modules.h>
#include <tbtrace/operators.h>
#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/steps.h>
#include <tbtrace/trace.h>

namespace TBTRACE_EXPORT tbtrace {

/// The figures that there are of a table of the command line (`ops`, `gpu`, ...), its own first;
/// empty for a name that it does not have.
std::span<const Figures> figures_of(std::string_view table);

// Each fails for figures that there are not, and for options that these do not know. Arguments of
// events that the plugin's need besides: ArgumentGroup::launches and placement.
// docs/parity.md says what the figures are.

Result<OperatorSummary> operator_summary(std::span<const Trace* const> traces, Figures figures,
                                         const SummaryOptions& options = {},
                                         SameProcess same_process = SameProcess::checked);
Result<OperatorSummary> operator_summary(const Trace& trace, Figures figures,
                                         const SummaryOptions& options = {});
Result<StepBreakdown> step_breakdown(const Trace& trace, Figures figures,
                                     const StepBreakdownOptions& options = {});
Result<AnalysisReport> kernels_report(const Trace& trace, Figures figures,
                                      const KernelsOptions& options = {});
Result<AnalysisReport> gpu_report(const Trace& trace, Figures figures,
                                  const GpuOptions& options = {});
Result<AnalysisReport> memory_report(const Trace& trace, Figures figures,
                                     const MemoryOptions& options = {});
Result<AnalysisReport> modules_report(const Trace& trace, Figures figures,
                                      const ModulesOptions& options = {});

}  // namespace tbtrace
