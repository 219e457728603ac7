#include "trace/nearest_range.h"

#include <algorithm>

namespace tbtrace {

Column<EventId> nearest_python_frames(const Trace& trace) {
  const auto is_frame = [&](EventId event) { return trace.events().is_python_frame(event); };
  if (std::none_of(trace.by_start().begin(), trace.by_start().end(), is_frame)) return {};
  return nearest_ranges(trace, is_frame);
}

}  // namespace tbtrace
