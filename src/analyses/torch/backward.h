// Sets the stacks of the rows in torch's event list, and replaces those of backward passes.
// A step on TorchRows; has no state.
// Source: torch/autograd/profiler_util.py (_set_backward_stacktraces).
#pragma once

#include <tbtrace/trace.h>

#include "analyses/torch/rows.h"
#include "analyses/torch/stacks.h"
#include "analyses/torch/tree.h"

namespace tbtrace::analyses {

/// An autograd node, and everything below it, shows the stack of the operator that created the
/// node.
void set_stacks(TorchRows& list, const Trace& trace, const TorchNames& names, TorchStacks& stacks,
                const ForwardThreads& threads);

}  // namespace tbtrace::analyses
