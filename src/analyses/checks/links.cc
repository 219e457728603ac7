// Checks of launches and of what they launched.
#include "trace/links.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "analyses/checks/list.h"
#include "base/bounded_sum.h"

namespace tbtrace::analyses {
namespace {

/// Device clocks are read in microseconds by old recordings, so a kernel may seem to start up to
/// that much early.
constexpr std::int64_t kClockStepNs = 1000;

/// Which launches record a graph instead of running something: those between the beginning and the
/// end of a stream's capture on their thread. To be asked in the order of time.
class Captures {
 public:
  explicit Captures(const Trace& trace) : trace_(trace), depth_(trace.tracks().size(), 0) {}

  bool is_captured(EventId event) {
    std::int64_t& depth = depth_[index(trace_.events().track(event))];
    const std::string_view name = trace_.name(event);
    if (name.find("StreamBeginCapture") != std::string_view::npos) depth += 1;
    if (name.find("StreamEndCapture") != std::string_view::npos && depth > 0) depth -= 1;
    return depth > 0;
  }

 private:
  const Trace& trace_;
  std::vector<std::int64_t> depth_;  // by track
};

bool is_kernel_launch(const Trace& trace, EventId event) {
  if (trace.kind(event) != EventKind::runtime) return false;
  const std::string_view name = trace.name(event);
  if (name.find("HostFunc") != std::string_view::npos) return false;  // runs on the host
  // CUDA, HIP, and for Intel's GPUs SYCL's Unified Runtime and Level Zero.
  constexpr auto kLaunches = std::to_array<std::string_view>(
      {"cudaLaunch", "cuLaunch", "cudaGraphLaunch", "cuGraphLaunch", "hipLaunch",
       "hipExtModuleLaunch", "hipModuleLaunch", "hipExtLaunch", "hipGraphLaunch",
       "urEnqueueKernelLaunch", "urEnqueueCooperativeKernelLaunch",
       "zeCommandListAppendLaunchKernel", "zeCommandListAppendLaunchCooperativeKernel"});
  return std::any_of(kLaunches.begin(), kLaunches.end(),
                     [&](std::string_view launch) { return name.starts_with(launch); });
}

/// Ids of events, which must differ within a process.
class IdsOfProcesses {
 public:
  explicit IdsOfProcesses(const Trace& trace) : trace_(trace) {}

  /// In the order of time; 0 is not an id.
  void add(EventId event, std::int64_t id) {
    if (id == 0) return;
    const TrackKey& process = trace_.track(trace_.events().track(event)).process;
    rows_.emplace_back(process.number, process.text, id, rows_.size(), event);
  }

  std::size_t size() const { return rows_.size(); }

  /// Adds the events whose id an earlier one has; the first of them is the example.
  void find_repeated(CheckHits& hits) {
    std::sort(rows_.begin(), rows_.end());
    std::size_t first = rows_.size();
    EventId example = EventId::none;
    for (std::size_t row = 1; row < rows_.size(); ++row) {
      const auto& [number, text, id, place, event] = rows_[row];
      const auto& before = rows_[row - 1];
      if (std::tie(number, text, id) !=
          std::tie(std::get<0>(before), std::get<1>(before), std::get<2>(before))) {
        continue;
      }
      ++hits.count;
      if (place >= first) continue;
      first = place;
      example = event;
    }
    if (example != EventId::none) hits.describe(example);
  }

 private:
  const Trace& trace_;
  std::vector<std::tuple<std::int64_t, StringId, std::int64_t, std::size_t, EventId>> rows_;
};

}  // namespace

void find_launches_without_kernels(const Trace& trace, CheckHits& hits) {
  std::unordered_set<EventId> known;
  for (const DeviceLink& link : links_of(trace).device_work()) known.insert(link.launch);
  std::uint64_t launches = 0;
  bool has_graphs = false;
  Captures captures(trace);
  for (const EventId event : trace.by_start()) {
    if (trace.kind(event) != EventKind::runtime) continue;
    if (captures.is_captured(event) || !is_kernel_launch(trace, event)) continue;
    if (trace.events().unfinished(event)) continue;  // the process ended in it
    ++launches;
    has_graphs = has_graphs || trace.name(event).find("Graph") != std::string_view::npos;
    if (!known.contains(event)) hits.add(event);
  }
  if (hits.count > 0 && hits.count == launches) {
    hits.severity = CheckSeverity::error;
    hits.remedy =
        "look for another profiler that uses the device (nsys, ncu, DCGM), for a CUPTI, roctracer "
        "or XPUPTI that does not fit the driver, and for missing permissions; "
        "`tbtrace --version --verbose` on that machine says more";
  } else if (!exceeds(hits.count, launches, 1) || has_graphs) {
    // What is launched while a graph is captured runs later, by the graph's own launch.
    hits.severity = CheckSeverity::info;
  } else if (exceeds(hits.count, launches, 50)) {
    hits.severity = CheckSeverity::error;
  }
}

void find_kernels_without_launch(const Trace& trace, CheckHits& hits) {
  const std::span<const DeviceLink> work = links_of(trace).device_work();
  for (const DeviceLink& link : work) {
    if (link.launch == EventId::none) hits.add(link.activity);
  }
  const LinkReport& report = trace.links();
  const WideInteger all = WideInteger{report.linked_ns} + report.unlinked_ns;
  const bool is_much_time = WideInteger{report.unlinked_ns} * 100 > all * 5;
  if (!exceeds(hits.count, work.size(), 5) && !is_much_time) hits.severity = CheckSeverity::info;
  const bool has_calls =
      hits.count < work.size() ||
      std::ranges::any_of(trace.by_start(), [&](EventId e) { return is_kernel_launch(trace, e); });
  if (has_calls) {
    hits.remedy =
        "start the recording before the first launch: more warm-up steps in the schedule, or a "
        "device that is synchronized before the recording starts";
  }
}

void find_work_before_launch(const Trace& trace, CheckHits& hits) {
  const Events& events = trace.events();
  std::uint64_t linked = 0;
  for (const DeviceLink& link : links_of(trace).device_work()) {
    if (link.launch == EventId::none || links_of(trace).is_misplaced(link.activity)) continue;
    ++linked;
    const WideInteger lead =
        WideInteger{events.start_ns(link.launch)} - events.start_ns(link.activity);
    if (lead > kClockStepNs) hits.add(link.activity);
  }
  if (!exceeds(hits.count, linked, 1)) hits.severity = CheckSeverity::info;
}

void find_repeated_correlations(const Trace& trace, CheckHits& hits) {
  IdsOfProcesses ids(trace);
  for (const EventId event : trace.by_start()) {
    if (is_kernel_launch(trace, event)) ids.add(event, trace.correlation(event));
  }
  ids.find_repeated(hits);
}

void find_repeated_external_ids(const Trace& trace, CheckHits& hits) {
  IdsOfProcesses ids(trace);
  for (const EventId event : trace.by_start()) {
    if (trace.kind(event) == EventKind::cpu_op) ids.add(event, trace.external_id(event));
  }
  ids.find_repeated(hits);
  if (!exceeds(hits.count, ids.size(), 1)) hits.severity = CheckSeverity::info;
}

void find_invalid_external_ids(const Trace& trace, CheckHits& hits) {
  if (trace.links().external_ids_valid) return;
  for (const EventId event : trace.by_start()) {
    const bool launches = trace.kind(event) == EventKind::runtime;
    const std::int64_t id = trace.external_id(event);
    if (launches && id != 0 && id == trace.correlation(event)) hits.add(event);
  }
}

}  // namespace tbtrace::analyses
