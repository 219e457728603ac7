// HolisticTraceAnalysis's device use as the rows of `tbtrace.gpu/1`.
#include <cstdint>

#include "analyses/compat/hta/gpu_use.h"
#include "analyses/gpu/report.h"
#include "report/optional_cell.h"

namespace tbtrace::analyses {
namespace {

Cell percent(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return {};
  return 100 * static_cast<double>(part) / static_cast<double>(whole);
}

using Value = Cell (*)(const HtaGpuUse& use);

template <auto Member>
Cell of(const HtaGpuUse& use) {
  return use.*Member;
}

/// Nothing for a stream that only has a queue.
template <auto Member>
Cell idle(const HtaGpuUse& use) {
  const bool has_gaps = use.activities > 0 || !use.queue_changes;
  return has_gaps ? Cell(use.*Member) : Cell();
}

template <auto Member>
Cell queue(const HtaGpuUse& use) {
  return use.queue_changes ? Cell((*use.queue_changes).*Member) : Cell();
}

constexpr Value kNone = nullptr;

struct Column {
  const char* name;
  bool is_shown;
  Value of_all;     ///< in the row for everything
  Value of_stream;  ///< in rows of streams
};

constexpr Column kColumns[] = {
    {"device", true, kNone, kNone},
    {"stream", true, kNone,
     [](const HtaGpuUse& use) { return use.stream.empty() ? Cell() : Cell(use.stream); }},
    {"window_ns", true, of<&GpuUse::window_ns>, kNone},
    {"busy_ns", false, of<&GpuUse::busy_ns>, kNone},
    {"busy_share", true, [](const HtaGpuUse& use) { return Cell(use.busy_share()); }, kNone},
    {"computation_ns", true, of<&GpuUse::computation_ns>, kNone},
    {"communication_ns", false, of<&GpuUse::communication_ns>, kNone},
    {"memory_ns", false, of<&GpuUse::memory_ns>, kNone},
    {"overlap_ns", false, of<&GpuUse::overlap_ns>, kNone},
    {"exposed_communication_ns", true, of<&GpuUse::exposed_communication_ns>, kNone},
    {"exposed_memory_ns", true, of<&GpuUse::exposed_memory_ns>, kNone},
    {"non_compute_ns", true,
     [](const HtaGpuUse& use) { return Cell(use.busy_ns - use.computation_ns); }, kNone},
    {"idle_ns", true, idle<&GpuUse::idle_ns>, idle<&GpuUse::idle_ns>},
    {"idle_host_wait_ns", true, kNone, idle<&GpuUse::idle_host_wait_ns>},
    {"idle_kernel_wait_ns", true, kNone, idle<&GpuUse::idle_kernel_wait_ns>},
    {"idle_other_ns", true, kNone, idle<&GpuUse::idle_other_ns>},
    {"computation_percent", false,
     [](const HtaGpuUse& use) { return percent(use.computation_ns, use.window_ns); }, kNone},
    {"non_compute_percent", false,
     [](const HtaGpuUse& use) { return percent(use.busy_ns - use.computation_ns, use.window_ns); },
     kNone},
    {"idle_percent", false,
     [](const HtaGpuUse& use) { return percent(use.idle_ns, use.window_ns); }, kNone},
    {"overlap_percent", true,
     [](const HtaGpuUse& use) { return percent(use.overlap_ns, use.communication_ns); }, kNone},
    {"queue_length_mean", true, kNone, kNone},
    {"queue_length_max", false, kNone, kNone},
    {"queue_changes", false, kNone, queue<&QueueChanges::count>},
    {"queue_change_mean", true, kNone, queue<&QueueChanges::mean>},
    {"queue_change_stddev", true, kNone,
     [](const HtaGpuUse& use) {
       return use.queue_changes ? report::optional_cell(use.queue_changes->stddev) : Cell();
     }},
    {"queue_change_min", false, kNone, queue<&QueueChanges::min>},
    {"queue_change_quartile_1", false, kNone, queue<&QueueChanges::quartile_1>},
    {"queue_change_median", true, kNone, queue<&QueueChanges::median>},
    {"queue_change_quartile_3", false, kNone, queue<&QueueChanges::quartile_3>},
    {"queue_change_max", true, kNone, queue<&QueueChanges::max>},
    {"activities", false, of<&GpuUse::activities>, of<&GpuUse::activities>},
    {"launches", true, kNone, kNone},
    {"short_kernels", true, kNone, kNone},
    {"copied_bytes", false, kNone, kNone},
    {"copy_bandwidth_bytes_per_s", false, kNone, kNone}};

}  // namespace

Result<AnalysisReport> hta_gpu_report(const Trace& trace, const GpuOptions& options) {
  if (options.steps) {
    return Status(StatusCode::invalid_argument, "only exact figures can be limited to steps");
  }
  const Result<std::vector<HtaGpuUse>> use = hta_gpu_use(trace, options);
  if (!use.ok()) return use.status();
  std::vector<GpuColumn<HtaGpuUse>> columns;
  for (const Column& column : kColumns) {
    columns.push_back(
        {column.name, column.is_shown, options.by_stream ? column.of_stream : column.of_all});
  }
  AnalysisReport report = gpu_report_of<HtaGpuUse>(trace, *use, columns);
  if (options.by_stream) {  // gaps of streams have no windows
    for (auto& [name, total] : report.totals) {
      if (name != "idle_ns") total = Cell();
    }
  }
  return report;
}

}  // namespace tbtrace::analyses
