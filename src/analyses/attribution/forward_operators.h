// Which forward operator each operator of a backward pass computes the gradient of.
// Owns its column; made from a Trace and valid for it alone. Immutable.
// Needs ArgumentGroup::autograd; without it no operator has one.
#pragma once

#include <tbtrace/trace.h>

#include "base/column.h"

namespace tbtrace::analyses {

/// A node of autograd's graph bears the sequence number of the operator that created it, and
/// torch's number for the thread of that operator (`Fwd thread id`). Several operators bear a
/// number, because those that create no node do not raise it; the last that started before the node
/// created it.
/// Threads count for themselves: if no flow event tells which thread it was, the number must be one
/// thread's alone within the process. Source: at::sequence_number, torch/csrc/autograd/function.h.
class ForwardOperators {
 public:
  explicit ForwardOperators(const Trace& trace);

  /// EventId::none for what is not a node of the graph, and for a node whose operator is unknown.
  EventId of(EventId event) const {
    return forward_.empty() ? EventId::none : forward_[index(event)];
  }

 private:
  Column<EventId> forward_;  // by event; empty without sequence numbers
};

/// Whether an operator is a node of autograd's graph, or autograd's range around one: it names the
/// thread of its forward pass, or is called like one.
bool is_backward(const Trace& trace, EventId op);

/// Whether an operator adds a gradient to a parameter, or is autograd's range around that.
bool accumulates_gradient(const Trace& trace, EventId op);

}  // namespace tbtrace::analyses
