#include "analyses/kernels/launches.h"

#include <utility>

#include <tbtrace/analysis_context.h>

#include "analyses/attribution/device_number.h"
#include "analyses/attribution/graph_labels.h"
#include "analyses/kernels/launched_activities.h"
#include "analyses/kernels/runs.h"
#include "analyses/steps/selection.h"
#include "base/bounded_sum.h"
#include "trace/track_keys.h"

namespace tbtrace {

KernelLaunch analyses::launch_row(const Trace& trace, EventId kernel, EventId call) {
  const Events& events = trace.events();
  const Track& track = trace.track(events.track(kernel));
  KernelLaunch row;
  row.name = trace.name(kernel);
  row.launch = trace.name(call);
  row.device = device_number(track);
  row.stream = key_text(trace, track.thread);
  row.correlation = trace.correlation(kernel);
  row.start_ns = events.start_ns(kernel);
  row.launch_call_ns = events.duration_ns(call);
  row.duration_ns = events.duration_ns(kernel);
  if (!links_of(trace).is_misplaced(kernel)) {
    row.launch_delay_ns = bounded(launch_delay(events, kernel, call));
  }
  return row;
}

Result<std::vector<KernelLaunch>> kernel_launches(const Trace& trace,
                                                  const KernelsOptions& options) {
  const auto window = analyses::window_of_steps(trace, options.steps);
  if (!window.ok()) return window.status();
  const AnalysisContext context(trace);
  const analyses::GraphLabels labels(trace);
  std::vector<KernelLaunch> rows;
  for (const analyses::KernelRun& run : analyses::kernel_runs(trace, *window)) {
    if (run.launch == EventId::none) continue;
    KernelLaunch row = analyses::launch_row(trace, run.event, run.launch);
    if (const Step* step = context.step_of(run.launch)) row.step = step->number;
    row.op = run.op == EventId::none ? "[unattributed]" : trace.name(run.op);
    row.label = labels.of(run.event);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace tbtrace
