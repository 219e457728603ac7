// The nearest range of some kind around each host range.
// Results own their data.
#pragma once

#include <tbtrace/trace.h>

#include "base/column.h"
#include "trace/call_tree.h"

namespace tbtrace {

/// For each range, the nearest one among itself and those around it for which `test` is true;
/// EventId::none if there is none, and for events that are not host ranges. Computed from the
/// outside in, so that deep nesting costs nothing.
template <typename Test>
Column<EventId> nearest_ranges(const Trace& trace, Test test) {
  Column<EventId> found;
  found.resize(trace.events().size(), EventId::none);
  const CallTree& tree = call_tree_of(trace);
  for (const EventId event : tree.ranges()) {
    const EventId parent = tree.parent(event);
    const EventId around = parent == EventId::none ? EventId::none : found[index(parent)];
    found[index(event)] = test(event) ? event : around;
  }
  return found;
}

/// An entry of such a column; EventId::none for EventId::none and for a column that was not
/// computed.
inline EventId entry_of(const Column<EventId>& column, EventId event) {
  return event == EventId::none || column.empty() ? EventId::none : column[index(event)];
}

/// For each range, the nearest operator among itself and those around it; if there is none, the
/// nearest annotation.
Column<EventId> nearest_operators_or_annotations(const Trace& trace, const CallTree& tree);

/// For each range, the nearest Python frame among itself and those around it. Empty if the trace
/// has no Python frames.
Column<EventId> nearest_python_frames(const Trace& trace);

}  // namespace tbtrace
