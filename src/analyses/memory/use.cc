// Curves, pairs of allocations and frees, and what was alive at the peaks.
#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include <tbtrace/memory.h>

#include "analyses/memory/sources.h"
#include "analyses/memory/walk.h"
#include "analyses/steps/selection.h"
#include "base/bounded_sum.h"
#include "trace/track_keys.h"

namespace tbtrace {
namespace {

using analyses::WalkedAllocation;
using analyses::WalkedDevice;

struct Sum {
  WideInteger bytes = 0;
  std::uint64_t allocations = 0;
};

/// Of one device at its peak.
using HeldBySource = std::map<std::size_t, Sum>;

class MemoryAnalysis {
 public:
  /// `window`: the time of the chosen steps.
  MemoryAnalysis(const Trace& trace, const std::optional<StepRange>& steps,
                 const std::optional<TimeRange>& window)
      : trace_(trace), steps_(steps), window_(window), walk_(trace, window), sources_(trace) {}

  MemoryUse run() {
    const std::vector<WideInteger> before = walk_.from_before_at_peak();
    const std::vector<HeldBySource> held = take_allocations();
    for (std::size_t device = 0; device < walk_.devices().size(); ++device) {
      take_device(walk_.devices()[device]);
      if (walk_.devices()[device].peak) finish_peak(held[device], before[device]);
    }
    use_.sources = sources_.take();
    use_.without_address = walk_.without_address();
    order_allocations();
    return std::move(use_);
  }

 private:
  /// Those of the chosen time. Returns what was alive at the peak of each device.
  std::vector<HeldBySource> take_allocations() {
    std::vector<HeldBySource> held(walk_.devices().size());
    for (const WalkedAllocation& walked : walk_.allocations()) {
      MemoryAllocation allocation = {
          .device = walked.device, .bytes = walked.bytes, .end = walked.how};
      const bool is_freed = walked.freed_by != WalkedAllocation::kNever;
      if (!walked.is_from_before()) {
        allocation.allocated_at_ns = trace_.memory()[walked.allocated_by].time_ns;
        allocation.source =
            sources_.number(walked.allocated_by,
                            is_freed ? std::optional(walked.freed_by) : std::nullopt, walked.how);
        const std::optional<std::size_t> peak = walk_.devices()[walked.device].peak;
        if (peak && walked.is_alive(*peak)) {
          Sum& sum = held[walked.device][*allocation.source];
          sum.bytes += walked.bytes;
          ++sum.allocations;
        }
      }
      if (is_freed) allocation.freed_at_ns = trace_.memory()[walked.freed_by].time_ns;
      if (!window_ || is_held_in_window(walked)) use_.allocations.push_back(allocation);
    }
    return held;
  }

  void take_device(const WalkedDevice& walked) {
    DeviceMemory& device = use_.devices.emplace_back();
    device.process = key_text(trace_, walked.process);
    device.device = walked.name;
    device.totals = walked.totals;
    device.out_of_memory = walked.out_of_memory;
    find_growth(walked, device);
    device.curve = walked.curve;
    if (window_) {
      std::erase_if(device.curve, [&](const MemoryPoint& point) {
        return point.at_ns < window_->start || window_->end <= point.at_ns;
      });
    }
    if (!walked.peak) return;
    const MemoryPoint& peak = walked.curve[*walked.peak];
    device.peak_bytes = peak.allocated_bytes;
    device.peak_at_ns = window_ ? std::max(peak.at_ns, window_->start) : peak.at_ns;
    for (const MemoryPoint& point : walk_.chosen_points(walked)) {
      device.peak_reserved_bytes = std::max(device.peak_reserved_bytes, point.reserved_bytes);
    }
    if (peak.reserved_bytes) {
      device.fragmentation_bytes =
          bounded(WideInteger{*peak.reserved_bytes} - peak.allocated_bytes);
    }
  }

  /// Of the last device.
  void finish_peak(const HeldBySource& held, WideInteger before) {
    DeviceMemory& device = use_.devices.back();
    WideInteger rest = device.peak_bytes;
    const std::vector<MemorySource>& sources = sources_.known();
    for (const auto& [source, sum] : held) {
      device.alive.push_back({sources[source], bounded(sum.bytes), sum.allocations});
      rest -= sum.bytes;
    }
    rest -= before;
    if (before != 0) device.alive.push_back({{.op = DeviceMemory::kBefore}, bounded(before), 0});
    if (rest != 0) device.alive.push_back({{.op = DeviceMemory::kUnknown}, bounded(rest), 0});
    std::stable_sort(
        device.alive.begin(), device.alive.end(), [](const MemoryHolder& a, const MemoryHolder& b) {
          return std::tie(b.bytes, a.source.op, a.source.module, a.source.line, a.source.category) <
                 std::tie(a.bytes, b.source.op, b.source.module, b.source.line, b.source.category);
        });
  }

  void find_growth(const WalkedDevice& walked, DeviceMemory& device) const {
    const std::vector<std::int64_t> ends = walk_.step_ends(walked, steps_);
    if (ends.size() < 2 || walked.curve.empty()) return;
    std::vector<WideInteger> growth;
    WideInteger last = 0;
    for (const std::int64_t end : ends) {
      const std::size_t records = walked.records_until(end);
      const WideInteger bytes =
          records == 0 ? walked.before : WideInteger{walked.curve[records - 1].allocated_bytes};
      growth.push_back(bytes - last);
      device.step_end_bytes.push_back(bounded(bytes));
      device.step_end_reserved_bytes.push_back(
          records == 0 ? std::nullopt : walked.curve[records - 1].reserved_bytes);
      last = bytes;
    }
    growth.erase(growth.begin());
    device.growth_per_step_bytes = analyses::median_growth(growth);
  }

  /// Whether an allocation was held in any of the chosen time, as far as is known.
  bool is_held_in_window(const WalkedAllocation& allocation) const {
    constexpr std::size_t kNever = WalkedAllocation::kNever;
    const std::vector<MemoryPoint>& curve = walk_.devices()[allocation.device].curve;
    const bool is_from_before = allocation.is_from_before();
    if (!is_from_before && curve[allocation.begin].at_ns >= window_->end) return false;
    if (allocation.end != kNever) return curve[allocation.end].at_ns >= window_->start;
    return allocation.how == AllocationEnd::held ||
           curve[allocation.begin].at_ns >= window_->start;  // the end is not known
  }

  void order_allocations() {
    const auto time = [](const MemoryAllocation& allocation) {
      return allocation.allocated_at_ns ? *allocation.allocated_at_ns : *allocation.freed_at_ns;
    };
    std::stable_sort(
        use_.allocations.begin(), use_.allocations.end(),
        [&](const MemoryAllocation& a, const MemoryAllocation& b) { return time(a) < time(b); });
  }

  const Trace& trace_;
  const std::optional<StepRange> steps_;
  const std::optional<TimeRange> window_;
  const analyses::MemoryWalk walk_;
  analyses::MemorySources sources_;
  MemoryUse use_;
};

}  // namespace

Result<MemoryUse> memory_use(const Trace& trace, const MemoryUseOptions& options) {
  const Result<std::optional<TimeRange>> window = analyses::window_of_steps(trace, options.steps);
  if (!window.ok()) return window.status();
  return MemoryAnalysis(trace, options.steps, *window).run();
}

}  // namespace tbtrace
