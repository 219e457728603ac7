#include "trace/event_batch.h"

namespace tbtrace {

void EventBatch::clear() {
  ranges.clear();
  range_ends.clear();
  memory.clear();
  flows.clear();
  labels.clear();
  instants.clear();
  counter_values.clear();
  others.clear();
  range_values.clear();
  range_end_values.clear();
  memory_values.clear();
  dims.clear();
  first_other_time_ns.reset();
  first_ns = std::numeric_limits<std::int64_t>::max();
  last_ns = std::numeric_limits<std::int64_t>::min();
  rows.clear();
  members.clear();
  arguments.clear();
}

}  // namespace tbtrace
