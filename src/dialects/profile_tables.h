// Tables of a profile as people read them, in Markdown: few columns, times in ms, the largest
// first. Pure functions; texts are owned. Any thread. Names are in backticks.
#pragma once

#include <cstddef>
#include <string>

#include <tbtrace/analyses.h>
#include <tbtrace/step_breakdown.h>
#include <tbtrace/trace.h>

namespace tbtrace::dialects {

/// Each is empty where the trace has nothing for it, and ends with a line for the rows left out.
std::string operator_markdown(const OperatorSummary& operators, std::size_t rows);
std::string kernel_markdown(const Trace& trace, std::size_t rows);
/// What operators allocated and freed themselves.
std::string memory_markdown(const OperatorSummary& operators, std::size_t rows);
std::string step_markdown(const StepBreakdown& steps, std::size_t rows);

}  // namespace tbtrace::dialects
