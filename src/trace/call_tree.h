// Which range of the host runs inside which: the exact tree.
// Owns its columns; made from a Trace and valid for it alone. Immutable.
// Ranges may overlap without nesting; nothing is dropped for that.
#pragma once

#include <span>

#include <tbtrace/trace.h>

#include "base/column.h"

namespace tbtrace {

/// A range's parent is, of those that are open from its start to its end, the one that started
/// last. What a `with` statement opens starts inside a call of `__enter__` and outlives it, so it
/// is not inside that call. Launches end when the driver's clock says so, which may be behind the
/// end of their operator: for them the start decides.
class CallTree {
 public:
  explicit CallTree(const Trace& trace);

  /// EventId::none for the outermost ranges and for events that are not ranges of the host.
  EventId parent(EventId event) const { return parent_[index(event)]; }

  /// All host ranges, each after its parent; on a thread in the order of their starts.
  std::span<const EventId> ranges() const { return ranges_.view(); }

 private:
  void order_ranges(const Trace& trace);
  void nest(const Trace& trace);

  Column<EventId> ranges_;
  Column<EventId> parent_;
};

}  // namespace tbtrace
