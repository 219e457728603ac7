// Sets shapes and FLOPs of the rows in torch's event list.
// A step on TorchRows; has no state.
#pragma once

#include <tbtrace/trace.h>

#include "analyses/torch/rows.h"

namespace tbtrace::analyses {

/// Calls with the same arguments share their text and their FLOPs.
void describe_inputs(TorchRows& list, const Trace& trace, TorchNames& names, bool shapes,
                     bool flops);

}  // namespace tbtrace::analyses
