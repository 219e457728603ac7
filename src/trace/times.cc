#include "trace/times.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/bounded_sum.h"

namespace tbtrace {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

}  // namespace

std::optional<TimeRange> recording_reach(TimeRange host, std::span<const TimeRange> work) {
  const WideInteger far = WideInteger{host.end} - host.start + kSecond;
  TimeRange reach = host;
  for (const TimeRange& each : work) {
    if (each.end < host.start) continue;
    if (WideInteger{each.start} - reach.end > far) break;
    reach.end = std::max(reach.end, each.end);
  }
  std::vector<TimeRange> by_end;  // of what began before the host
  for (const TimeRange& each : work) {
    if (each.start < host.start) by_end.push_back(each);
  }
  std::ranges::sort(by_end, std::ranges::greater(), &TimeRange::end);
  for (const TimeRange& each : by_end) {
    if (WideInteger{reach.start} - each.end > far) break;
    // What begins far before, and ends in the recording, lost its start.
    if (WideInteger{reach.start} - each.start <= far) {
      reach.start = std::min(reach.start, each.start);
    }
  }
  const auto outside = static_cast<std::size_t>(
      std::ranges::count_if(work, [&](const TimeRange& each) { return is_outside(reach, each); }));
  if (outside == 0 || outside * 2 >= work.size()) return std::nullopt;
  return reach;
}

}  // namespace tbtrace
