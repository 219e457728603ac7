// The tree that torch builds in C++ when recording stops: it decides when unfinished ranges end and
// which Python function called an operator.
// Owns its columns; made from a Trace and valid for it alone. Immutable.
// Source: torch/csrc/profiler/collection.cpp (build_tree, torchOpEndNS).
#pragma once

#include <cstdint>

#include <tbtrace/trace.h>

#include "base/column.h"
#include "trace/scoped_ids.h"

namespace tbtrace::analyses {

/// torch numbers threads itself, and `Fwd thread id` is such a number. A flow event from a forward
/// operator to its backward operator connects the number to the thread where the flow starts.
class ForwardThreads {
 public:
  explicit ForwardThreads(const Trace& trace);  // which must outlive it

  /// The thread of a backward operator's forward pass; false if the operator names none, or if no
  /// flow event connects its number to a thread.
  bool find(EventId backward, TrackId& track) const;

 private:
  const Trace& trace_;
  ScopedIds tracks_;  // by torch's number
};

/// Autograd's sequence number of an event, -1 if it has none.
inline std::int64_t sequence_number(const Trace& trace, EventId event) {
  return trace.argument(Argument::sequence_number).integer(event).value_or(-1);
}

/// torch's own number for the thread of an operator's forward pass, 0 if there is none.
inline std::int64_t forward_thread(const Trace& trace, EventId event) {
  return trace.argument(Argument::forward_thread).integer(event).value_or(0);
}

class TorchTree {
 public:
  TorchTree(const Trace& trace, const ForwardThreads& threads);

  EventId parent(EventId event) const { return parent_[index(event)]; }

  /// The nearest Python function above an event, EventId::none if there is none.
  EventId python_parent(EventId event) const { return python_parent_[index(event)]; }

  /// When an event ended according to torch.
  std::int64_t end_ns(EventId event) const { return end_ns_[index(event)]; }

 private:
  void nest(const Trace& trace, const ForwardThreads& threads);
  void settle(const Trace& trace);

  Column<EventId> parent_;
  Column<std::uint8_t> closed_;
  Column<EventId> python_parent_;
  Column<std::int64_t> end_ns_;
};

}  // namespace tbtrace::analyses
