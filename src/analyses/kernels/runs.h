// The kernels that a summary counts, one entry per run.
// Results are plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tbtrace/kernels.h>
#include <tbtrace/trace.h>

#include "base/time_ranges.h"

namespace tbtrace::analyses {

struct KernelRun {
  EventId event = EventId::none;
  EventId launch = EventId::none;  ///< EventId::none: no launch is known
  EventId op = EventId::none;      ///< EventId::none: no operator is known
  std::int64_t duration_ns = 0;
};

/// By start. With a window, those that start in it.
std::vector<KernelRun> kernel_runs(const Trace& trace, const std::optional<TimeRange>& window);

/// Whether an event starts in the window; true without a window.
bool starts_in(const Trace& trace, EventId event, const std::optional<TimeRange>& window);

/// Adds the memcpys and memsets that start in the window.
void add_copies(KernelSummary& summary, const Trace& trace, const std::optional<TimeRange>& window);

}  // namespace tbtrace::analyses
