#include <algorithm>
#include <array>
#include <utility>

#include <tbtrace/analysis_context.h>
#include <tbtrace/kernels.h>

#include "analyses/device_number.h"
#include "analyses/hta_rows.h"
#include "analyses/kernel_runs.h"
#include "analyses/launch_sizes.h"
#include "base/bounded_sum.h"
#include "base/id_map.h"
#include "trace/track_text.h"

namespace tbtrace {
namespace {

KernelLaunch launch_row(const Trace& trace, EventId kernel, EventId call) {
  const Events& events = trace.events();
  const Track& track = trace.track(events.track(kernel));
  KernelLaunch row;
  row.name = trace.name(kernel);
  row.launch = trace.name(call);
  row.device = analyses::device_number(track);
  row.stream = key_text(trace, track.thread);
  row.correlation = trace.correlation(kernel);
  row.start_ns = events.start_ns(kernel);
  row.launch_call_ns = events.duration_ns(call);
  row.duration_ns = events.duration_ns(kernel);
  row.launch_delay_ns = bounded(analyses::launch_delay(events, kernel, call));
  return row;
}

std::vector<KernelLaunch> exact_launches(const Trace& trace,
                                         const std::vector<analyses::KernelRun>& runs) {
  const AnalysisContext context(trace);
  std::vector<KernelLaunch> rows;
  for (const analyses::KernelRun& run : runs) {
    if (run.launch == EventId::none) continue;
    KernelLaunch row = launch_row(trace, run.event, run.launch);
    if (const Step* step = context.step_of(run.launch)) row.step = step->number;
    row.op = run.op == EventId::none ? "[unattributed]" : trace.name(run.op);
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Source: HolisticTraceAnalysis 0.5.0, hta/analyzers/cuda_kernel_analysis.py.
bool is_launch_of_hta(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames = {
      "cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync", "cudaMemsetAsync",
      "runFunction - job_prep_and_submit_for_execution"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

constexpr std::size_t kMostHtaLaunches = 10'000'000;  // of some 300 bytes each

/// Every host row with a correlation that one of those calls has, with every activity that has it.
Result<std::vector<KernelLaunch>> hta_launches(const Trace& trace) {
  const Result<analyses::HtaRows> found = analyses::hta_rows(trace);
  if (!found.ok()) return found.status();
  const analyses::HtaRows& rows = *found;
  IdMap numbers;  // of correlations
  std::vector<std::vector<EventId>> host_rows;
  const auto add_ids = [&](const std::vector<EventId>& events) {
    for (const EventId event : events) {
      const std::int64_t id = trace.correlation(event);
      if (id == 0 || !is_launch_of_hta(trace.name(event))) continue;
      if (numbers.insert(id, static_cast<std::uint32_t>(host_rows.size())).second) {
        host_rows.emplace_back();
      }
    }
  };
  add_ids(rows.host);
  add_ids(rows.device);
  for (const EventId event : rows.host) {
    const std::uint32_t number = numbers.find(trace.correlation(event));
    if (number != IdMap::kNone) host_rows[number].push_back(event);
  }
  std::vector<KernelLaunch> launches;
  for (const EventId event : rows.device) {
    const std::uint32_t number = numbers.find(trace.correlation(event));
    if (number == IdMap::kNone) continue;
    if (launches.size() + host_rows[number].size() > kMostHtaLaunches) {
      return analyses::too_many_hta_rows(kMostHtaLaunches);
    }
    for (const EventId call : host_rows[number]) {
      launches.push_back(launch_row(trace, event, call));
    }
  }
  return launches;
}

}  // namespace

Result<std::vector<KernelLaunch>> kernel_launches(const Trace& trace,
                                                  const KernelsOptions& options) {
  if (options.figures == KernelFigures::plugin) {
    return Status(StatusCode::invalid_argument, "torch-tb-profiler does not list launches");
  }
  const auto window = analyses::checked_window(trace, options);
  if (!window.ok()) return window.status();
  if (options.figures == KernelFigures::hta) return hta_launches(trace);
  return exact_launches(trace, *analyses::kernel_runs(trace, options, *window));
}

}  // namespace tbtrace
