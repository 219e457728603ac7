// The kernels that a summary counts, one entry per run, in each definition.
// Results are plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <tbtrace/kernels.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

#include "analyses/time_ranges.h"

namespace tbtrace::analyses {

struct KernelRun {
  EventId event = EventId::none;
  EventId launch = EventId::none;  ///< exact figures only
  EventId op = EventId::none;      ///< EventId::none: no operator is known
  std::int64_t duration_ns = 0;
  double us = 0;  ///< plugin figures: its own double
};

/// By start; for the plugin by launch, in the order of its tree. A run can occur several times in
/// the peers' figures. `window`: exact figures only have what starts in it. HTA's fail as
/// hta_rows().
Result<std::vector<KernelRun>> kernel_runs(const Trace& trace, const KernelsOptions& options,
                                           const std::optional<TimeRange>& window);

/// The time of the chosen steps; nullopt if none are chosen. Fails for a combination of options
/// that does not exist, or if the trace has none of the steps.
Result<std::optional<TimeRange>> checked_window(const Trace& trace, const KernelsOptions& options);

/// Whether an event starts in the window; true without a window.
bool starts_in(const Trace& trace, EventId event, const std::optional<TimeRange>& window);

/// Adds the memcpys and memsets that start in the window.
void add_copies(KernelSummary& summary, const Trace& trace, const std::optional<TimeRange>& window);

}  // namespace tbtrace::analyses
