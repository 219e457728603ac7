// The exact figures of one or several traces as an OperatorSummary, in an order that does not
// depend on that of the traces.
#pragma once

#include <cstdint>
#include <vector>

#include <tbtrace/operators.h>
#include <tbtrace/report.h>

namespace tbtrace::analyses {

/// Device time and memory.
struct DeviceAndMemory {
  std::int64_t device_ns = 0;
  std::int64_t cpu_bytes = 0;
  std::int64_t device_bytes = 0;
};

struct ExactParts {
  OperatorRows rows;  ///< without `[idle]` and `[unattributed]`
  /// By row: its place among the rows of a trace, in the order of their first events; of several
  /// traces the lowest one.
  std::vector<std::uint32_t> first;
  DeviceAndMemory unattributed;
  std::vector<ThreadTotal> threads;
  std::int64_t window_ns = 0;
  SourceReport source;
};

/// Rows by `first`, those with the same one by the bytes of their keys; threads by process, thread
/// and name.
OperatorSummary exact_summary_of(ExactParts parts);

/// Of one trace.
ExactParts exact_parts(const Trace& trace, const SummaryOptions& options);

}  // namespace tbtrace::analyses
