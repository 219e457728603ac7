// The nearest range of some kind around each range of the host.
// Pure functions of a Trace; results own what they hold.
#pragma once

#include <tbtrace/trace.h>

#include "base/column.h"
#include "trace/call_tree.h"

namespace tbtrace {

/// For each range the nearest one for which `test` holds, of itself and those around it;
/// EventId::none where there is none, and for events that are not host ranges. From the outside in,
/// so that deep nests cost nothing.
template <typename Test>
Column<EventId> nearest_ranges(const Trace& trace, Test test) {
  Column<EventId> found;
  found.resize(trace.events().size(), EventId::none);
  const CallTree& tree = trace.call_tree();
  for (const EventId event : tree.ranges()) {
    const EventId parent = tree.parent(event);
    const EventId around = parent == EventId::none ? EventId::none : found[index(parent)];
    found[index(event)] = test(event) ? event : around;
  }
  return found;
}

/// An entry of such a column; EventId::none of none, and of a column that was not made.
inline EventId entry_of(const Column<EventId>& column, EventId event) {
  return event == EventId::none || column.empty() ? EventId::none : column[index(event)];
}

/// For each range the nearest Python frame, of itself and those around it. Empty where the trace
/// has none.
Column<EventId> nearest_python_frames(const Trace& trace);

}  // namespace tbtrace
