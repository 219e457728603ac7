// The calls that take long because they are the first of their kind: they load code, or set a
// library up.
// Pure function.
#pragma once

#include <vector>

#include <tbtrace/trace.h>

namespace tbtrace::analyses {

/// Sorted. Calls of the runtime that neither wait nor copy, and operators by their self time;
/// docs/findings.md has the rule.
std::vector<EventId> first_calls(const Trace& trace);

}  // namespace tbtrace::analyses
