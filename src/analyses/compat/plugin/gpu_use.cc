#include "analyses/compat/plugin/gpu_use.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "analyses/compat/plugin/rules.h"
#include "analyses/compat/plugin/steps.h"
#include "analyses/compat/plugin/tensor_cores.h"
#include "analyses/compat/plugin/tree.h"
#include "analyses/steps/rules.h"
#include "base/time_ranges.h"

namespace tbtrace::analyses {
namespace {

std::int64_t device_of(const Trace& trace, EventId kernel) {
  return device_number(trace.track(trace.events().track(kernel)));
}

struct KernelTime {
  EventId kernel = EventId::none;
  TimeRange time;  ///< the part in the window, not empty
};

/// The kernels of a device that run in the window, by start; times are rounded as in the plugin.
std::vector<KernelTime> in_window(const std::vector<EventId>& kernels, const StepRules& rules,
                                  TimeRange window) {
  std::vector<KernelTime> found;
  for (const EventId kernel : kernels) {
    const TimeRange time = {std::max(window.start, rules.start_ns(kernel)),
                            std::min(window.end, rules.end_ns(kernel))};
    if (time.start < time.end) found.push_back({kernel, time});
  }
  return found;
}

std::optional<double> sm_efficiency(const Trace& trace, const std::vector<KernelTime>& kernels,
                                    TimeRange window) {
  struct Change {
    std::int64_t time;
    double blocks;  ///< that begin to run, or that end
  };
  std::vector<Change> changes;
  for (const auto& [kernel, time] : kernels) {
    const std::optional<double> blocks = trace.argument(Argument::blocks_per_sm).real(kernel);
    if (!blocks || !(*blocks > 0)) continue;
    changes.push_back({time.start, *blocks});
    changes.push_back({time.end, -*blocks});
  }
  if (changes.empty()) return std::nullopt;
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return a.time < b.time; });
  double sum = 0;
  double running = 0;
  for (std::size_t change = 0; change + 1 < changes.size(); ++change) {
    running += changes[change].blocks;
    const auto length = static_cast<double>(changes[change + 1].time - changes[change].time);
    sum += std::clamp(running, 0.0, 1.0) * length;
  }
  return sum / static_cast<double>(window.end - window.start);
}

std::optional<double> occupancy_percent(const Trace& trace,
                                        const std::vector<KernelTime>& kernels) {
  double sum = 0;
  double weights = 0;
  for (const auto& [kernel, time] : kernels) {
    const std::optional<double> occupancy = trace.argument(Argument::occupancy).real(kernel);
    if (!occupancy || !(*occupancy >= 0)) continue;
    const auto weight = static_cast<double>(time.end - time.start);
    sum += *occupancy * weight;
    weights += weight;
  }
  return weights > 0 ? std::optional(sum / weights) : std::nullopt;
}

struct TensorCoreTime {
  double on_tensor_cores = 0;
  double total = 0;

  double share() const { return total > 0 ? on_tensor_cores / total : 0; }
};

}  // namespace

std::vector<PluginGpuUse> plugin_gpu_use(const Trace& trace) {
  const StepBreakdown steps = plugin_step_breakdown(trace);
  TimeRange window;
  if (!steps.steps.empty()) {
    window = {steps.steps.front().start_ns, steps.steps.back().end_ns};
  }
  std::map<std::int64_t, std::vector<EventId>> kernels;
  for (const EventId event : trace.by_start()) {
    if (!is_plugin_kernel(trace.category(event))) continue;
    kernels[device_of(trace, event)].push_back(event);
  }
  const std::vector<PluginTree::Kernel> launched = PluginTree(trace).kernels_of_operators();
  std::map<std::int64_t, TensorCoreTime> tensor_core_time;
  for (const PluginTree::Kernel& kernel : launched) {
    TensorCoreTime& time = tensor_core_time[device_of(trace, kernel.event)];
    time.total += kernel.us;
    if (uses_tensor_cores_in_plugin(trace.name(kernel.event))) time.on_tensor_cores += kernel.us;
  }
  std::vector<PluginGpuUse> rows;
  const StepRules rules(trace, plugin_step_policy());
  for (const auto& [device, of_device] : kernels) {
    const std::vector<KernelTime> times = in_window(of_device, rules, window);
    std::vector<TimeRange> busy;
    for (const KernelTime& kernel : times) add_range(busy, kernel.time);
    PluginGpuUse use;
    use.device = device;
    use.window_ns = window.end - window.start;
    use.busy_ns = total_length(busy);
    use.idle_ns = use.window_ns - use.busy_ns;
    use.sm_efficiency = sm_efficiency(trace, times, window);
    use.occupancy_percent = occupancy_percent(trace, times);
    if (!launched.empty()) use.tensor_core_share = tensor_core_time[device].share();
    rows.push_back(use);
  }
  return rows;
}

}  // namespace tbtrace::analyses
