#include "analyses/timeline/counters.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include <tbtrace/memory.h>

#include "trace/times.h"

namespace tbtrace::analyses {
namespace {

constexpr std::size_t kMostPoints = 2000;

/// Numbers of the points that remain, ascending.
std::vector<std::size_t> kept_points(const std::vector<MemoryPoint>& curve) {
  std::vector<std::size_t> kept;
  // Three for each span.
  const std::size_t spans = curve.size() <= kMostPoints ? curve.size() : kMostPoints / 3;
  for (std::size_t span = 0; span < spans; ++span) {
    const std::size_t begin = span * curve.size() / spans;
    const std::size_t end = (span + 1) * curve.size() / spans;
    std::array<std::size_t, 3> points = {begin, begin, end - 1};
    for (std::size_t at = begin; at < end; ++at) {
      if (curve[at].allocated_bytes < curve[points[0]].allocated_bytes) points[0] = at;
      if (curve[at].allocated_bytes > curve[points[1]].allocated_bytes) points[1] = at;
    }
    std::sort(points.begin(), points.end());
    kept.insert(kept.end(), points.begin(), std::unique(points.begin(), points.end()));
  }
  return kept;
}

}  // namespace

std::vector<TimelineCounter> timeline_counters(const Trace& trace) {
  std::vector<TimelineCounter> counters;
  if (trace.memory().empty()) return counters;
  const Result<MemoryUse> use = memory_use(trace);
  if (!use.ok()) return counters;
  const bool has_processes = std::ranges::any_of(use->devices, [&](const DeviceMemory& device) {
    return device.process != use->devices.front().process;
  });
  for (const DeviceMemory& device : use->devices) {
    if (device.curve.empty()) continue;
    TimelineCounter& counter = counters.emplace_back();
    counter.name = "allocated on " + device.device;
    if (has_processes) counter.name += ", process " + device.process;
    for (const std::size_t point : kept_points(device.curve)) {
      counter.times_ns.push_back(since_start(trace, device.curve[point].at_ns));
      counter.values.push_back(device.curve[point].allocated_bytes);
    }
  }
  return counters;
}

}  // namespace tbtrace::analyses
