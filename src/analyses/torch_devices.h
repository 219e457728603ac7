// Assigns kernels to the operators that launched them, in torch's event list.
// Steps on TorchRows; have no state.
// Source: torch/autograd/profiler.py (_parse_kineto_results), profiler_util.py (device_time_total).
#pragma once

#include <functional>

#include <tbtrace/trace.h>

#include "analyses/torch_rows.h"

namespace tbtrace::analyses {

/// Kernels go to the operator or annotation with their `External id`, and runtime calls to its
/// thread; those without an id stay separate. If the file's ids do not name operators, the operator
/// is the one that contains the launch. `name_of`: the name that torch shows for an event.
void link_devices(TorchRows& rows, const std::function<NameId(EventId)>& name_of);

/// Device time of each row including everything below it, added in torch's order.
void add_up_device_time(TorchRows& list, std::size_t threads);

}  // namespace tbtrace::analyses
