// Device use as the rows of `tbtrace.gpu/1`.
#include <cstdint>

#include <tbtrace/gpu_use.h>

#include "analyses/joined_totals.h"
#include "analyses/report_totals.h"
#include "analyses/source_report.h"
#include "base/bounded_sum.h"
#include "base/share.h"
#include "report/optional_cell.h"

namespace tbtrace {
namespace {

using report::optional_cell;

Cell bandwidth(const GpuUse& use) {
  if (use.copy_ns == 0) return {};
  return static_cast<double>(use.copied_bytes) * 1e9 / static_cast<double>(use.copy_ns);
}

Cell percent(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return {};
  return 100 * static_cast<double>(part) / static_cast<double>(whole);
}

Cell percent_of(const std::optional<double>& share) { return share ? Cell(100 * *share) : Cell(); }

// In which rows a column has values: exact figures, HolisticTraceAnalysis's for everything or for a
// stream, torch-tb-profiler's. Reports of these tools have their own columns and the exact ones.
constexpr unsigned kExact = 1;
constexpr unsigned kHtaWhole = 2;
constexpr unsigned kHtaStream = 4;
constexpr unsigned kPlugin = 8;
constexpr unsigned kWhole = kExact | kHtaWhole;
constexpr unsigned kStream = kExact | kHtaStream;
constexpr unsigned kAll = kExact | kHtaWhole | kHtaStream | kPlugin;

struct GpuColumn {
  const char* name;
  unsigned rows;  ///< the sum of the kinds of rows with a value
  bool is_shown;  ///< in the text for people
  Cell (*value)(const GpuUse&);
};

template <auto Member>
Cell field(const GpuUse& use) {
  return use.*Member;
}

/// The kinds of rows whose columns a report has.
unsigned kinds_of(GpuFigures figures) {
  if (figures == GpuFigures::hta) return kExact | kHtaWhole | kHtaStream;
  return figures == GpuFigures::plugin ? kExact | kPlugin : kExact;
}

/// Nothing for a stream of HolisticTraceAnalysis that only has a queue.
template <auto Member>
Cell idle(const GpuUse& use) {
  const bool has_gaps = use.activities > 0 || !use.queue_changes;
  return has_gaps ? Cell(use.*Member) : Cell();
}

template <auto Member>
Cell queue(const GpuUse& use) {
  return use.queue_changes ? Cell((*use.queue_changes).*Member) : Cell();
}

constexpr GpuColumn kColumns[] = {
    {"device", kExact | kPlugin, true, field<&GpuUse::device>},
    {"stream", kStream, true,
     [](const GpuUse& use) { return use.stream.empty() ? Cell() : Cell(use.stream); }},
    {"window_ns", kWhole | kPlugin, true, field<&GpuUse::window_ns>},
    {"busy_ns", kWhole | kPlugin, false, field<&GpuUse::busy_ns>},
    {"busy_share", kWhole | kPlugin, true,
     [](const GpuUse& use) { return Cell(use.busy_share()); }},
    {"computation_ns", kWhole, true, field<&GpuUse::computation_ns>},
    {"communication_ns", kWhole, false, field<&GpuUse::communication_ns>},
    {"memory_ns", kWhole, false, field<&GpuUse::memory_ns>},
    {"overlap_ns", kWhole, false, field<&GpuUse::overlap_ns>},
    {"exposed_communication_ns", kWhole, true, field<&GpuUse::exposed_communication_ns>},
    {"exposed_memory_ns", kWhole, true, field<&GpuUse::exposed_memory_ns>},
    {"non_compute_ns", kHtaWhole, true,
     [](const GpuUse& use) { return Cell(use.busy_ns - use.computation_ns); }},
    {"idle_ns", kAll, true, idle<&GpuUse::idle_ns>},
    {"idle_host_wait_ns", kStream, true, idle<&GpuUse::idle_host_wait_ns>},
    {"idle_kernel_wait_ns", kStream, true, idle<&GpuUse::idle_kernel_wait_ns>},
    {"idle_other_ns", kStream, true, idle<&GpuUse::idle_other_ns>},
    {"computation_percent", kHtaWhole, false,
     [](const GpuUse& use) { return percent(use.computation_ns, use.window_ns); }},
    {"non_compute_percent", kHtaWhole, false,
     [](const GpuUse& use) { return percent(use.busy_ns - use.computation_ns, use.window_ns); }},
    {"idle_percent", kHtaWhole, false,
     [](const GpuUse& use) { return percent(use.idle_ns, use.window_ns); }},
    {"overlap_percent", kHtaWhole, true,
     [](const GpuUse& use) { return percent(use.overlap_ns, use.communication_ns); }},
    {"queue_length_mean", kExact, true, field<&GpuUse::queue_length_mean>},
    {"queue_length_max", kExact, false, field<&GpuUse::queue_length_max>},
    {"queue_changes", kHtaStream, false, queue<&QueueChanges::count>},
    {"queue_change_mean", kHtaStream, true, queue<&QueueChanges::mean>},
    {"queue_change_stddev", kHtaStream, true,
     [](const GpuUse& use) {
       return use.queue_changes ? optional_cell(use.queue_changes->stddev) : Cell();
     }},
    {"queue_change_min", kHtaStream, false, queue<&QueueChanges::min>},
    {"queue_change_quartile_1", kHtaStream, false, queue<&QueueChanges::quartile_1>},
    {"queue_change_median", kHtaStream, true, queue<&QueueChanges::median>},
    {"queue_change_quartile_3", kHtaStream, false, queue<&QueueChanges::quartile_3>},
    {"queue_change_max", kHtaStream, true, queue<&QueueChanges::max>},
    {"sm_efficiency_percent", kPlugin, true,
     [](const GpuUse& use) { return percent_of(use.sm_efficiency); }},
    {"occupancy_percent", kPlugin, true,
     [](const GpuUse& use) { return optional_cell(use.occupancy_percent); }},
    {"tensor_core_percent", kPlugin, true,
     [](const GpuUse& use) { return percent_of(use.tensor_core_share); }},
    {"activities", kExact | kHtaWhole | kHtaStream, false, field<&GpuUse::activities>},
    {"launches", kExact, true, field<&GpuUse::launches>},
    {"short_kernels", kExact, true, field<&GpuUse::short_kernels>},
    {"copied_bytes", kExact, false, field<&GpuUse::copied_bytes>},
    {"copy_bandwidth_bytes_per_s", kExact, false, bandwidth}};

/// Of all devices; windows of devices are different times of one device each.
AnalysisReport::Totals totals_of(const std::vector<GpuUse>& rows, unsigned kind) {
  WideInteger window = 0;
  WideInteger busy = 0;
  WideInteger idle = 0;
  for (const GpuUse& use : rows) {
    window += use.window_ns;
    busy += use.busy_ns;
    idle += use.idle_ns;
  }
  if (kind == kHtaStream) {
    return {{"window_ns", {}}, {"busy_ns", {}}, {"idle_ns", bounded(idle)}, {"busy_share", {}}};
  }
  return {{"window_ns", bounded(window)},
          {"busy_ns", bounded(busy)},
          {"idle_ns", bounded(idle)},
          {"busy_share", share(bounded(busy), bounded(window))}};
}

}  // namespace

AnalysisReport::Totals analyses::joined_gpu_totals(const AnalysisReport::Totals& sums,
                                                   const Table& /*rows*/) {
  AnalysisReport::Totals totals = sums;
  const auto* window = std::get_if<std::int64_t>(total_named(totals, "window_ns"));
  const auto* busy = std::get_if<std::int64_t>(total_named(totals, "busy_ns"));
  Cell* const busy_share = total_named(totals, "busy_share");
  if (window != nullptr && busy != nullptr && busy_share != nullptr) {
    *busy_share = share(*busy, *window);
  }
  return totals;
}

Result<AnalysisReport> gpu_report(const Trace& trace, const GpuUseOptions& options) {
  const Result<std::vector<GpuUse>> use = gpu_use(trace, options);
  if (!use.ok()) return use.status();
  const unsigned kind = options.figures == GpuFigures::exact    ? kExact
                        : options.figures == GpuFigures::plugin ? kPlugin
                        : options.by_stream                     ? kHtaStream
                                                                : kHtaWhole;
  AnalysisReport report;
  report.schema = "tbtrace.gpu/1";
  report.table.columns = {"rank"};
  report.shown = {"rank"};
  report.table.rows.resize(use->size(), {optional_cell(trace.identity().rank)});
  for (const GpuColumn& column : kColumns) {
    if ((column.rows & kinds_of(options.figures)) == 0) continue;
    report.table.columns.emplace_back(column.name);
    if (column.is_shown) report.shown.emplace_back(column.name);
    for (std::size_t row = 0; row < use->size(); ++row) {
      const bool has_value = (column.rows & kind) != 0;
      report.table.rows[row].push_back(has_value ? column.value((*use)[row]) : Cell());
    }
  }
  report.totals = totals_of(*use, kind);
  report.joined_totals = analyses::joined_gpu_totals;
  report.source = analyses::source_report(trace);
  return report;
}

}  // namespace tbtrace
