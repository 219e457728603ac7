// Stacks of the rows of torch's event list, with those of backward passes replaced.
// A step on TorchRows; no state of its own.
// Source: torch/autograd/profiler_util.py (_set_backward_stacktraces).
#pragma once

#include <tbtrace/trace.h>

#include "analyses/torch_rows.h"
#include "analyses/torch_stacks.h"
#include "analyses/torch_tree.h"

namespace tbtrace::analyses {

/// A node of autograd's, and all below it, shows the stack of the operator that made the node.
void set_stacks(TorchRows& list, const Trace& trace, const TorchNames& names, TorchStacks& stacks,
                const ForwardThreads& threads);

}  // namespace tbtrace::analyses
