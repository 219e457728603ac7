#include "analyses/compat/hta/kernels.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "analyses/compat/hta/rows.h"
#include "analyses/kernels/families.h"
#include "analyses/kernels/keys.h"
#include "analyses/kernels/launches.h"
#include "analyses/kernels/report.h"
#include "analyses/kernels/sums.h"
#include "base/id_map.h"
#include "report/source_report.h"

namespace tbtrace::analyses {
namespace {

Status check(const KernelsOptions& options) {
  if (!options.by.empty() || options.steps) {
    return {
        StatusCode::invalid_argument,
        "the kernels of torch-tb-profiler and HolisticTraceAnalysis cannot be grouped by device, "
        "stream, step and the like, or limited to steps"};
  }
  if (options.group_by != KernelGrouping::name || !options.also_by.empty()) {
    return {StatusCode::invalid_argument,
            "HolisticTraceAnalysis groups kernels by name only; group by name"};
  }
  return {};
}

std::string type_of(const KernelGroup& group) {
  switch (hta_class(group.name)) {
    case HtaClass::communication:
      return "communication";
    case HtaClass::memory:
      return "memory";
    default:
      return "computation";
  }
}

/// Source: HolisticTraceAnalysis 0.5.0, hta/analyzers/cuda_kernel_analysis.py.
bool is_launch(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames = {
      "cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync", "cudaMemsetAsync",
      "runFunction - job_prep_and_submit_for_execution"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

constexpr std::size_t kMostHtaLaunches = 10'000'000;  // of some 300 bytes each

}  // namespace

Result<KernelSummary> hta_kernel_summary(const Trace& trace, const KernelsOptions& options) {
  if (Status can = check(options); !can.ok()) return can;
  const Result<HtaRows> rows = hta_rows(trace);
  if (!rows.ok()) return rows.status();
  KernelKeyRules rules = exact_kernel_keys();
  rules.communication = nullptr;
  KernelKeys keys(trace, options, rules);
  SummedKernels kernels;
  for (const EventId event : rows->device) {
    if (hta_class(trace.name(event)) == HtaClass::other) continue;
    const std::int64_t duration_ns = trace.events().duration_ns(event);
    const std::size_t group = keys.group_of({.event = event, .duration_ns = duration_ns});
    if (group == kernels.sums.size()) kernels.sums.emplace_back();
    for (KernelSums* const sums : {&kernels.sums[group], &kernels.all}) {
      sums->add_duration(duration_ns);
      if (keys.facts(event).tensor_cores.value_or(false)) sums->tensor_core_ns += duration_ns;
    }
  }
  kernels.groups = std::move(keys).release();
  return summary_of(std::move(kernels));
}

Result<AnalysisReport> hta_kernel_report(const Trace& trace, const KernelsOptions& options) {
  const Result<KernelSummary> summary = hta_kernel_summary(trace, options);
  if (!summary.ok()) return summary.status();
  KernelColumns columns;
  add_keys(columns, trace.identity().rank, options);
  columns.add("type", true, [](const KernelGroup& group) { return Cell(type_of(group)); });
  add_times(columns, summary->all.total_ns);
  AnalysisReport report = std::move(columns).report(summary->groups);
  report.totals = {{"count", summary->all.count}, {"total_ns", summary->all.total_ns}};
  report.source = report::source_report(trace);
  return report;
}

/// Every host row with a correlation that one of those calls has, with every activity that has it.
Result<std::vector<KernelLaunch>> hta_kernel_launches(const Trace& trace,
                                                      const KernelsOptions& options) {
  if (Status can = check(options); !can.ok()) return can;
  const Result<HtaRows> found = hta_rows(trace);
  if (!found.ok()) return found.status();
  const HtaRows& rows = *found;
  IdMap numbers;  // of correlations
  std::vector<std::vector<EventId>> host_rows;
  const auto add_ids = [&](const std::vector<EventId>& events) {
    for (const EventId event : events) {
      const std::int64_t id = trace.correlation(event);
      if (id == 0 || !is_launch(trace.name(event))) continue;
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
      return too_many_hta_rows(kMostHtaLaunches);
    }
    for (const EventId call : host_rows[number]) {
      launches.push_back(launch_row(trace, event, call));
    }
  }
  return launches;
}

Result<AnalysisReport> hta_kernel_launch_report(const Trace& trace, const KernelsOptions& options) {
  const Result<std::vector<KernelLaunch>> launches = hta_kernel_launches(trace, options);
  if (!launches.ok()) return launches.status();
  return launch_report_of(trace, *launches);
}

}  // namespace tbtrace::analyses
