#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include <tbtrace/analysis_context.h>
#include <tbtrace/kernels.h>
#include <tbtrace/trace.h>

#include "analyses/attribution/graph_labels.h"
#include "analyses/kernels/launched_activities.h"
#include "analyses/kernels/runs.h"
#include "analyses/steps/selection.h"
#include "base/bounded_sum.h"
#include "trace/links.h"
#include "trace/track_keys.h"

namespace tbtrace {

namespace analyses {
namespace {

/// Without the step, the operator, the label and the queue.
KernelLaunch launch_row(const Trace& trace, EventId kernel, EventId call) {
  const Events& events = trace.events();
  const Track& track = trace.track(events.track(kernel));
  KernelLaunch row;
  row.name = trace.name(kernel);
  row.launch = trace.name(call);
  row.device = device_number(track);
  row.stream = key_text(trace, track.thread);
  row.correlation = trace.correlation(kernel);
  row.start_ns = events.start_ns(kernel);
  row.launch_start_ns = events.start_ns(call);
  row.launch_call_ns = events.duration_ns(call);
  row.duration_ns = events.duration_ns(kernel);
  if (!links_of(trace).is_misplaced(kernel)) {
    row.launch_delay_ns = bounded(launch_delay(events, kernel, call));
  }
  return row;
}

/// What waits on each device, by time: activities that were launched and have not started.
class WaitingWork {
 public:
  explicit WaitingWork(const Trace& trace) : trace_(trace) {
    const Events& events = trace.events();
    for (const DeviceLink& link : links_of(trace).device_work()) {
      if (link.launch == EventId::none || links_of(trace).is_misplaced(link.activity)) continue;
      const std::int64_t launched = events.end_ns(link.launch);
      const std::int64_t started = events.start_ns(link.activity);
      if (started <= launched) continue;  // it did not wait
      Device& device = devices_[device_of(link.activity)];
      device.launched.push_back(launched);
      device.started.push_back(started);
    }
    for (auto& [number, device] : devices_) {
      std::ranges::sort(device.launched);
      std::ranges::sort(device.started);
    }
  }

  /// Without what the same call launched.
  std::uint64_t at_launch_of(EventId kernel, EventId call) const {
    const auto found = devices_.find(device_of(kernel));
    if (found == devices_.end()) return 0;
    const std::int64_t now = trace_.events().end_ns(call);
    const Device& device = found->second;
    const auto launched = std::ranges::lower_bound(device.launched, now) - device.launched.begin();
    const auto started = std::ranges::upper_bound(device.started, now) - device.started.begin();
    return static_cast<std::uint64_t>(std::max<std::ptrdiff_t>(0, launched - started));
  }

 private:
  struct Device {
    std::vector<std::int64_t> launched;
    std::vector<std::int64_t> started;
  };

  std::int64_t device_of(EventId activity) const {
    return device_number(trace_.track(trace_.events().track(activity)));
  }

  const Trace& trace_;
  std::map<std::int64_t, Device> devices_;
};

}  // namespace
}  // namespace analyses

Result<std::vector<KernelLaunch>> kernel_launches(const Trace& trace,
                                                  const KernelsOptions& options) {
  const auto window = analyses::window_of_steps(trace, options.steps);
  if (!window.ok()) return window.status();
  const AnalysisContext context(trace);
  const analyses::GraphLabels labels(trace);
  const analyses::WaitingWork waiting(trace);
  std::vector<KernelLaunch> rows;
  for (const analyses::KernelRun& run : analyses::kernel_runs(trace, *window)) {
    if (run.launch == EventId::none) continue;
    KernelLaunch row = analyses::launch_row(trace, run.event, run.launch);
    if (const Step* step = context.step_of(run.launch)) row.step = step->number;
    row.op = run.op == EventId::none ? "[unattributed]" : trace.name(run.op);
    row.label = labels.of(run.event);
    row.queue_length = waiting.at_launch_of(run.event, run.launch);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace tbtrace
