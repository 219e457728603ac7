#include "trace/nearest_range.h"

#include <algorithm>

namespace tbtrace {

Column<EventId> nearest_operators_or_annotations(const Trace& trace, const CallTree& tree) {
  Column<EventId> found;
  found.resize(trace.events().size(), EventId::none);
  for (const EventId event : tree.ranges()) {
    const EventKind kind = trace.kind(event);
    const EventId around = entry_of(found, tree.parent(event));
    const bool is_in_operator = around != EventId::none && trace.kind(around) == EventKind::cpu_op;
    const bool is_nearest =
        kind == EventKind::cpu_op || (kind == EventKind::user_annotation && !is_in_operator);
    found[index(event)] = is_nearest ? event : around;
  }
  return found;
}

Column<EventId> nearest_python_frames(const Trace& trace) {
  const auto is_frame = [&](EventId event) { return trace.events().is_python_frame(event); };
  if (std::none_of(trace.by_start().begin(), trace.by_start().end(), is_frame)) return {};
  return nearest_ranges(trace, is_frame);
}

}  // namespace tbtrace
