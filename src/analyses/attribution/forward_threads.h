// On which thread the forward pass of a backward operator ran.
// Made from a Trace, which must outlive it. Immutable.
// Source: torch/csrc/autograd/function.h (sequence numbers), torch/csrc/profiler/collection.cpp.
#pragma once

#include <cstdint>

#include <tbtrace/trace.h>

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

}  // namespace tbtrace::analyses
