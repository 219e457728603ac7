// What analyses by module and by line have in common. Pure functions.
#pragma once

#include <functional>
#include <optional>

#include <tbtrace/modules.h>
#include <tbtrace/report.h>
#include <tbtrace/status.h>
#include <tbtrace/trace.h>

#include "analyses/modules/work_places.h"

namespace tbtrace::analyses {

/// The figures of a row; times and sizes that do not fit into 64 bits become the largest number.
ModuleCost cost_of(const PlaceWork& own, const PlaceWork& total);

/// Calls `analyse` with which ranges are of the chosen steps. Fails if the trace has none of them.
Status with_steps(const Trace& trace, const std::optional<StepRange>& steps,
                  const std::function<void(const CountsRange& counts)>& analyse);

/// Adds to each place the multiply-adds and operations that its operators did.
void add_operations(std::vector<PlaceWork>& work, const Trace& trace, const WorkPlaces& where,
                    const CountsRange& counts);

}  // namespace tbtrace::analyses
