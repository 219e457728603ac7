#include "recorder/log/device_trace.h"

#include <algorithm>
#include <cstddef>
#include <unordered_set>

namespace tbtrace::recorder {

void add_begun(DeviceTrace& rows, const DeviceActivities& outside) {
  if (outside.size() == 0) return;
  std::unordered_set<std::uint32_t> begun;
  for (const ApiCall& call : rows.calls) begun.insert(call.correlation);
  for (std::size_t row = 0; row < outside.size(); ++row) {
    if (begun.contains(outside.correlation(row))) rows.activities.push_back(outside[row]);
  }
}

DeviceTrace rows_between(const DeviceTrace& trace, std::uint64_t from, std::uint64_t to) {
  DeviceTrace kept = trace;
  const auto is_outside = [from, to](const auto& row) {
    return row.end_ticks < from || row.start_ticks > to;
  };
  kept.calls = {};
  for (const ApiCall& call : trace.calls) {
    if (!is_outside(call)) kept.calls.push_back(call);
  }
  kept.activities = {};
  DeviceActivities outside;
  for (std::size_t row = 0; row < trace.activities.size(); ++row) {
    const DeviceActivity activity = trace.activities[row];
    (is_outside(activity) ? outside : kept.activities).push_back(activity);
  }
  add_begun(kept, outside);
  std::erase_if(kept.synchronizations, is_outside);
  std::erase_if(kept.overheads, is_outside);
  std::erase_if(kept.markers, is_outside);
  return kept;
}

}  // namespace tbtrace::recorder
