// Shapes and FLOPs of the rows of torch's event list.
// A step on TorchRows; no state of its own.
#pragma once

#include <tbtrace/trace.h>

#include "analyses/torch_rows.h"

namespace tbtrace::analyses {

/// Calls with the same arguments share their text and their count.
void describe_inputs(TorchRows& list, const Trace& trace, TorchNames& names, bool shapes,
                     bool flops);

}  // namespace tbtrace::analyses
