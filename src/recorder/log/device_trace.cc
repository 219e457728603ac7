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

DeviceTrace without_rows_before(const DeviceTrace& trace, std::uint64_t ticks) {
  DeviceTrace kept = trace;
  const auto is_before = [ticks](const auto& row) { return row.end_ticks < ticks; };
  kept.activities = {};
  for (std::size_t row = 0; row < trace.activities.size(); ++row) {
    const DeviceActivity activity = trace.activities[row];
    if (!is_before(activity)) kept.activities.push_back(activity);
  }
  kept.calls = {};
  for (const ApiCall& call : trace.calls) {
    if (!is_before(call)) kept.calls.push_back(call);
  }
  std::erase_if(kept.synchronizations, is_before);
  std::erase_if(kept.overheads, is_before);
  std::erase_if(kept.markers, is_before);
  return kept;
}

}  // namespace tbtrace::recorder
