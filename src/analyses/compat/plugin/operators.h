// The operator table of torch-tb-profiler (its last source version): calls, host and device time.
// Results own their texts.
// Source: kineto tb_plugin, profiler/{event_parser,op_tree,node,op_agg}.py at 94979607^.
#pragma once

#include <span>

#include <tbtrace/operators.h>

namespace tbtrace::analyses {

/// Uses the plugin's rules and doubles: one tree per thread id, whatever the process; ranges that
/// cross are dropped; launches belong to the first range with their `External id`; driver calls are
/// not launches; a runtime call is not part of self time. Grouping by stack is not offered.
OperatorSummary plugin_summary(std::span<const Trace* const> traces, const SummaryOptions& options);

}  // namespace tbtrace::analyses
