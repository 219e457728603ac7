// Tables of a profile for TensorBoard's Text tab: few columns, times in ms, largest first.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <tbtrace/operators.h>
#include <tbtrace/steps.h>
#include <tbtrace/trace.h>

namespace tbtrace::logdir {

struct CardOptions {
  std::string heading;    ///< Markdown: what part of the trace the table covers
  std::size_t rows = 50;  ///< at most; a line says how many are not shown
};

/// Each is empty if the trace has no data for it. Operators are sorted by self time on devices, or
/// on the CPU if there is none.
std::string operator_card(const OperatorSummary& operators, const CardOptions& options);
std::string kernel_card(const Trace& trace, const CardOptions& options);
/// Self memory of operators, allocated minus freed, cumulative over all calls: the 50 largest by
/// magnitude, sorted by value.
std::string memory_card(const OperatorSummary& operators, const CardOptions& options);
std::string step_card(const StepBreakdown& steps, const CardOptions& options);

/// The roles to show, in the order of StepRole: GPU roles (kernels, memcpys, memsets, runtime
/// calls) if any of them takes time in any step, communication and data loading if they take time
/// in any step, and always the remaining host time.
std::vector<StepRole> shown_roles(const StepBreakdown& steps);

}  // namespace tbtrace::logdir
