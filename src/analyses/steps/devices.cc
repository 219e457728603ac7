#include "analyses/steps/devices.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/time_ranges.h"

namespace tbtrace::analyses {
namespace {

/// Allocated bytes of a device over time. Finds the peak in a time range in logarithmic time, with
/// a tree whose node n is the maximum of nodes 2n and 2n + 1.
class MemoryCurve {
 public:
  void add(std::int64_t time_ns, std::int64_t bytes) {
    times_.push_back(time_ns);
    highest_.push_back(bytes);
  }

  void finish() {
    const std::size_t size = highest_.size();
    highest_.insert(highest_.begin(), size, 0);
    for (std::size_t node = size; node-- > 1;) {
      highest_[node] = std::max(highest_[2 * node], highest_[2 * node + 1]);
    }
  }

  std::optional<std::int64_t> peak(TimeRange time) const {
    std::size_t low = place(time.start) + times_.size();
    std::size_t high = place(time.end) + times_.size();
    if (low >= high) return std::nullopt;
    std::int64_t peak = highest_[low];
    for (; low < high; low /= 2, high /= 2) {
      if (low % 2 == 1) peak = std::max(peak, highest_[low++]);
      if (high % 2 == 1) peak = std::max(peak, highest_[--high]);
    }
    return peak;
  }

 private:
  std::size_t place(std::int64_t time) const {
    return static_cast<std::size_t>(std::lower_bound(times_.begin(), times_.end(), time) -
                                    times_.begin());
  }

  std::vector<std::int64_t> times_;
  std::vector<std::int64_t> highest_;
};

}  // namespace

void add_busy_times(StepBreakdown& breakdown, const Trace& trace, const StepRules& rules,
                    std::span<const DeviceLink> work) {
  std::map<std::int64_t, std::vector<TimeRange>> kernels;
  std::vector<std::vector<TimeRange>*> of_track(trace.tracks().size(), nullptr);
  for (const DeviceLink& row : work) {
    if (!rules.is_kernel(row.activity)) continue;
    const TrackId track = trace.events().track(row.activity);
    std::vector<TimeRange>*& ranges = of_track[index(track)];
    if (ranges == nullptr) ranges = &kernels[device_number(trace.track(track))];
    add_range(*ranges, {rules.start_ns(row.activity), rules.end_ns(row.activity)});
  }
  for (const auto& [number, ranges] : kernels) {
    if (breakdown.devices.size() == StepBreakdown::kMostDevices) {
      breakdown.devices_left_out = kernels.size() - StepBreakdown::kMostDevices;
      break;
    }
    breakdown.devices.push_back(number);
    breakdown.busy_ns.push_back(0);
    if (breakdown.steps.empty()) continue;
    const RangeLengths lengths(ranges);
    breakdown.busy_ns.back() =
        lengths.within({breakdown.steps.front().start_ns, breakdown.steps.back().end_ns});
    for (StepTime& step : breakdown.steps) {
      step.busy_ns.push_back(lengths.within({step.start_ns, step.end_ns}));
    }
  }
}

void add_memory_peaks(StepBreakdown& breakdown, const Trace& trace) {
  std::map<std::pair<DeviceType, std::int16_t>, MemoryCurve> curves;
  for (const MemoryRecord& record : trace.memory()) {
    if (record.total_allocated_bytes < 0) continue;
    curves[{record.device_type, record.device_id}].add(record.time_ns,
                                                       record.total_allocated_bytes);
  }
  for (auto& [device, curve] : curves) {
    if (breakdown.memory_devices.size() == StepBreakdown::kMostDevices) {
      breakdown.memory_devices_left_out = curves.size() - StepBreakdown::kMostDevices;
      break;
    }
    breakdown.memory_devices.push_back({device.first, device.second});
    curve.finish();
    for (StepTime& step : breakdown.steps) {
      step.peak_memory_bytes.push_back(curve.peak({step.start_ns, step.end_ns}));
    }
  }
}

}  // namespace tbtrace::analyses
