// The exact tree: which host range runs inside which.
// Owns its columns; made from a Trace and valid for it alone. Immutable.
// Ranges may overlap without nesting; none is dropped for that.
#pragma once

#include <span>

#include <tbtrace/trace.h>

#include "base/column.h"

namespace tbtrace {

/// A range's parent is the range that started last among those open from its start to its end. What
/// a `with` statement opens starts inside a call of `__enter__` and outlives it, so it is not
/// inside that call. Launches end by the driver's clock, possibly after the end of their operator;
/// for them only the start counts.
class CallTree {
 public:
  explicit CallTree(const Trace& trace);

  /// EventId::none for the outermost ranges and for events that are not host ranges.
  EventId parent(EventId event) const { return parent_[index(event)]; }

  /// All host ranges, parents first; within a thread in the order of their starts.
  std::span<const EventId> ranges() const { return ranges_.view(); }

 private:
  void order_ranges(const Trace& trace);
  void nest(const Trace& trace);

  Column<EventId> ranges_;
  Column<EventId> parent_;
};

/// The innermost operator around an event of a host; EventId::none if there is none.
EventId operator_around(const Trace& trace, EventId event);

/// The call tree of a trace, computed by the first call on any thread. The trace owns it.
const CallTree& call_tree_of(const Trace& trace);

}  // namespace tbtrace
