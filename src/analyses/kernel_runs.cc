#include "analyses/kernel_runs.h"

#include "analyses/hta_rows.h"
#include "analyses/plugin_rules.h"
#include "analyses/plugin_tree.h"
#include "analyses/step_selection.h"
#include "base/nearest_integer.h"
#include "trace/links.h"

namespace tbtrace::analyses {
namespace {

std::vector<KernelRun> exact_runs(const Trace& trace, const std::optional<TimeRange>& window) {
  std::vector<KernelRun> runs;
  for (const DeviceLink& link : links_of(trace).device_work()) {
    if (trace.kind(link.activity) != EventKind::kernel) continue;
    if (!starts_in(trace, link.activity, window)) continue;
    runs.push_back(
        {link.activity, link.launch, link.op, trace.events().duration_ns(link.activity)});
  }
  return runs;
}

std::vector<KernelRun> plugin_runs(const Trace& trace) {
  std::vector<KernelRun> runs;
  for (const EventId event : trace.by_start()) {
    if (!is_plugin_kernel(trace.category(event))) continue;
    const std::int64_t duration_ns = trace.events().duration_ns(event);
    runs.push_back({.event = event, .duration_ns = duration_ns, .us = plugin_time(duration_ns)});
  }
  return runs;
}

std::vector<KernelRun> plugin_runs_of_tree(const Trace& trace) {
  const PluginTree tree(trace);
  std::vector<KernelRun> runs;
  for (const PluginTree::Kernel& kernel : tree.kernels()) {
    runs.push_back({.event = kernel.event,
                    .op = tree.node(kernel.op).event,
                    .duration_ns = nearest_integer(kernel.us * 1000),
                    .us = kernel.us});
  }
  return runs;
}

Result<std::vector<KernelRun>> hta_runs(const Trace& trace) {
  const Result<HtaRows> rows = hta_rows(trace);
  if (!rows.ok()) return rows.status();
  std::vector<KernelRun> runs;
  for (const EventId event : rows->device) {
    if (hta_class(trace.name(event)) == HtaClass::other) continue;
    runs.push_back({.event = event, .duration_ns = trace.events().duration_ns(event)});
  }
  return runs;
}

Status check(const KernelsOptions& options) {
  const KernelGrouping group_by = options.group_by;
  const bool by_name = group_by == KernelGrouping::name;
  if (options.figures == KernelFigures::exact) return {};
  if (options.by_device || options.by_stream || options.steps) {
    return {
        StatusCode::invalid_argument,
        "the kernels of torch-tb-profiler and HolisticTraceAnalysis cannot be grouped by device or "
        "stream, or limited to steps"};
  }
  if (options.figures == KernelFigures::hta && !by_name) {
    return {StatusCode::invalid_argument,
            "HolisticTraceAnalysis groups kernels by name only; group by name"};
  }
  if (options.figures == KernelFigures::plugin && !by_name && group_by != KernelGrouping::launch) {
    return {StatusCode::invalid_argument,
            "torch-tb-profiler groups kernels by name or by launch; group by one of them"};
  }
  return {};
}

}  // namespace

Result<std::optional<TimeRange>> checked_window(const Trace& trace, const KernelsOptions& options) {
  if (Status status = check(options); !status.ok()) return status;
  return window_of_steps(trace, options.steps);
}

bool starts_in(const Trace& trace, EventId event, const std::optional<TimeRange>& window) {
  const std::int64_t start = trace.events().start_ns(event);
  return !window || (window->start <= start && start < window->end);
}

Result<std::vector<KernelRun>> kernel_runs(const Trace& trace, const KernelsOptions& options,
                                           const std::optional<TimeRange>& window) {
  switch (options.figures) {
    case KernelFigures::exact:
      return exact_runs(trace, window);
    case KernelFigures::hta:
      return hta_runs(trace);
    case KernelFigures::plugin:
      break;
  }
  return options.group_by == KernelGrouping::launch ? plugin_runs_of_tree(trace)
                                                    : plugin_runs(trace);
}

}  // namespace tbtrace::analyses
