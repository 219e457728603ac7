// Kernels as the rows of `tbtrace.kernels/1`.
#include "analyses/kernel_report.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <tbtrace/kernels.h>

#include "analyses/report_totals.h"
#include "analyses/source_report.h"
#include "base/bounded_sum.h"
#include "report/optional_cell.h"
#include "report/table_columns.h"
#include "trace/since_start.h"

namespace tbtrace {
namespace {

using analyses::total_named;
using report::optional_cell;

constexpr const char* kSchema = "tbtrace.kernels/1";

Cell sizes_cell(const std::optional<Dim3>& sizes) {
  if (!sizes) return {};
  return Json{"[" + std::to_string(sizes->x) + ", " + std::to_string(sizes->y) + ", " +
              std::to_string(sizes->z) + "]"};
}

Cell percent(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return {};
  return 100 * static_cast<double>(part) / static_cast<double>(whole);
}

/// A table's columns, each with what it shows of a group.
class Columns {
 public:
  using Value = std::function<Cell(const KernelGroup&)>;

  /// `is_shown`: also in the text for people.
  void add(const std::string& name, bool is_shown, Value value) {
    names_.push_back(name);
    if (is_shown) shown_.push_back(name);
    values_.push_back(std::move(value));
  }

  void fill(AnalysisReport& report, const std::vector<KernelGroup>& groups) {
    for (const KernelGroup& group : groups) {
      std::vector<Cell>& row = report.table.rows.emplace_back();
      for (const Value& value : values_) row.push_back(value(group));
    }
    report.table.columns = std::move(names_);
    report.shown = std::move(shown_);
  }

 private:
  std::vector<std::string> names_;
  std::vector<std::string> shown_;
  std::vector<Value> values_;
};

void add_keys(Columns& columns, const KernelsOptions& options) {
  const KernelGrouping by = options.group_by;
  const bool by_launch = by == KernelGrouping::launch;
  const bool has_name = by == KernelGrouping::name || by_launch;
  if (has_name) {
    columns.add("name", false, [](const KernelGroup& group) { return Cell(group.name); });
    columns.add("short_name", true,
                [](const KernelGroup& group) { return Cell(group.short_name); });
  }
  if (by != KernelGrouping::op) {
    columns.add("family", true, [](const KernelGroup& group) {
      return Cell(std::string(kernel_family_name(group.family)));
    });
  }
  if (options.figures == KernelFigures::hta) {
    columns.add("type", true, [](const KernelGroup& group) { return Cell(group.type); });
  }
  if (by == KernelGrouping::op || by_launch) {
    columns.add("operator", true, [](const KernelGroup& group) { return Cell(group.op); });
  }
  if (by_launch) {
    columns.add("grid", true, [](const KernelGroup& group) { return sizes_cell(group.grid); });
    columns.add("block", true, [](const KernelGroup& group) { return sizes_cell(group.block); });
    columns.add("registers", true,
                [](const KernelGroup& group) { return optional_cell(group.registers); });
    columns.add("shared_memory_bytes", true,
                [](const KernelGroup& group) { return optional_cell(group.shared_memory_bytes); });
  }
  if (options.by_device || options.by_stream) {
    columns.add("device", true, [](const KernelGroup& group) { return Cell(group.device); });
  }
  if (options.by_stream) {
    columns.add("stream", true, [](const KernelGroup& group) { return Cell(group.stream); });
  }
}

void add_times(Columns& columns, std::int64_t all_ns, KernelFigures figures) {
  columns.add("count", true, [](const KernelGroup& group) { return Cell(group.count); });
  columns.add("total_ns", true, [](const KernelGroup& group) { return Cell(group.total_ns); });
  columns.add("share_percent", true,
              [all_ns](const KernelGroup& group) { return percent(group.total_ns, all_ns); });
  columns.add("mean_ns", true, [](const KernelGroup& group) { return Cell(group.mean_ns); });
  columns.add("min_ns", true, [](const KernelGroup& group) { return Cell(group.min_ns); });
  columns.add("max_ns", true, [](const KernelGroup& group) { return Cell(group.max_ns); });
  columns.add("stddev_ns", false, [](const KernelGroup& group) { return Cell(group.stddev_ns); });
  if (figures != KernelFigures::exact) return;
  columns.add("median_ns", false, [](const KernelGroup& group) { return Cell(group.median_ns); });
  columns.add("p90_ns", false, [](const KernelGroup& group) { return Cell(group.p90_ns); });
  columns.add("p99_ns", false, [](const KernelGroup& group) { return Cell(group.p99_ns); });
}

void add_use_of_device(Columns& columns, const KernelsOptions& options) {
  if (options.figures == KernelFigures::hta) return;
  const bool has_name =
      options.group_by == KernelGrouping::name || options.group_by == KernelGrouping::launch;
  if (has_name) {
    columns.add("tensor_cores_used", true,
                [](const KernelGroup& group) { return optional_cell(group.tensor_cores_used); });
  }
  if (has_name && options.figures == KernelFigures::plugin &&
      options.group_by == KernelGrouping::launch) {
    columns.add("operator_eligible", false,
                [](const KernelGroup& group) { return optional_cell(group.op_eligible); });
  }
  columns.add("tensor_core_ns", !has_name,
              [](const KernelGroup& group) { return Cell(group.tensor_core_ns); });
  columns.add("blocks_per_sm", true,
              [](const KernelGroup& group) { return optional_cell(group.blocks_per_sm); });
  columns.add("occupancy_percent", true,
              [](const KernelGroup& group) { return optional_cell(group.occupancy_percent); });
}

void add_launches(Columns& columns, const KernelsOptions& options) {
  if (options.figures != KernelFigures::exact) return;
  columns.add("launches", false, [](const KernelGroup& group) { return Cell(group.launches); });
  columns.add("without_launch", false,
              [](const KernelGroup& group) { return Cell(group.without_launch); });
  columns.add("launch_call_ns", false,
              [](const KernelGroup& group) { return Cell(group.launch_call_ns); });
  columns.add("launch_delay_mean_ns", true,
              [](const KernelGroup& group) { return optional_cell(group.launch_delay_mean_ns); });
  columns.add("launch_delay_max_ns", false,
              [](const KernelGroup& group) { return Cell(group.launch_delay_max_ns); });
  columns.add("launch_delay_total_ns", false,
              [](const KernelGroup& group) { return Cell(group.launch_delay_total_ns); });
  columns.add("short_kernels", false,
              [](const KernelGroup& group) { return Cell(group.short_kernels); });
}

AnalysisReport::Totals totals_of(const KernelSummary& summary, KernelFigures figures) {
  const KernelGroup& all = summary.all;
  AnalysisReport::Totals totals = {{"count", all.count}, {"total_ns", all.total_ns}};
  if (figures == KernelFigures::hta) return totals;
  totals.emplace_back("tensor_core_ns", all.tensor_core_ns);
  if (figures == KernelFigures::exact) {
    totals.emplace_back("launches", all.launches);
    totals.emplace_back("without_launch", all.without_launch);
    totals.emplace_back("launch_call_ns", all.launch_call_ns);
    totals.emplace_back("launch_delay_mean_ns", optional_cell(all.launch_delay_mean_ns));
    totals.emplace_back("launch_delay_max_ns", all.launch_delay_max_ns);
    totals.emplace_back("launch_delay_total_ns", all.launch_delay_total_ns);
    totals.emplace_back("short_kernels", all.short_kernels);
  }
  totals.emplace_back("memcpys", summary.memcpys);
  totals.emplace_back("memcpy_ns", summary.memcpy_ns);
  totals.emplace_back("memsets", summary.memsets);
  totals.emplace_back("memset_ns", summary.memset_ns);
  return totals;
}

/// The mean is that of all launched kernels; the longest delay is that of any row.
AnalysisReport::Totals joined_totals(const AnalysisReport::Totals& sums, const Table& rows) {
  AnalysisReport::Totals totals = sums;
  Cell* const mean = total_named(totals, "launch_delay_mean_ns");
  if (mean == nullptr) return totals;  // not in the peers' figures
  const auto launched = std::get<std::uint64_t>(*total_named(totals, "count")) -
                        std::get<std::uint64_t>(*total_named(totals, "without_launch"));
  const auto delay = std::get<std::int64_t>(*total_named(totals, "launch_delay_total_ns"));
  *mean = launched == 0 ? Cell() : Cell(static_cast<double>(delay) / static_cast<double>(launched));
  const std::size_t column = *report::column_named(rows, "launch_delay_max_ns");
  std::int64_t longest = 0;
  for (const std::vector<Cell>& row : rows.rows) {
    longest = std::max(longest, std::get<std::int64_t>(row[column]));
  }
  *total_named(totals, "launch_delay_max_ns") = longest;
  return totals;
}

Cell rank_of(const Trace& trace) { return optional_cell(trace.identity().rank); }

}  // namespace

AnalysisReport analyses::kernel_report_of(const KernelSummary& summary,
                                          const KernelsOptions& options,
                                          std::optional<std::int64_t> rank, SourceReport source) {
  Columns columns;
  columns.add("rank", true, [rank](const KernelGroup&) { return optional_cell(rank); });
  add_keys(columns, options);
  add_times(columns, summary.all.total_ns, options.figures);
  add_use_of_device(columns, options);
  add_launches(columns, options);
  AnalysisReport report;
  report.schema = kSchema;
  columns.fill(report, summary.groups);
  report.totals = totals_of(summary, options.figures);
  report.joined_totals = joined_totals;
  report.source = std::move(source);
  return report;
}

Result<AnalysisReport> kernel_report(const Trace& trace, const KernelsOptions& options) {
  const Result<KernelSummary> summary = kernel_summary(trace, options);
  if (!summary.ok()) return summary.status();
  return analyses::kernel_report_of(*summary, options, trace.identity().rank,
                                    analyses::source_report(trace));
}

Result<AnalysisReport> kernel_launch_report(const Trace& trace, const KernelsOptions& options) {
  const Result<std::vector<KernelLaunch>> launches = kernel_launches(trace, options);
  if (!launches.ok()) return launches.status();
  AnalysisReport report;
  report.schema = kSchema;
  report.table.columns = {"rank",     "name",           "launch",      "operator",
                          "device",   "stream",         "correlation", "step",
                          "start_ns", "launch_call_ns", "duration_ns", "launch_delay_ns"};
  report.shown = {"rank",   "name", "launch",         "operator",    "device",
                  "stream", "step", "launch_call_ns", "duration_ns", "launch_delay_ns"};
  WideInteger duration = 0;
  WideInteger delay = 0;
  const Cell rank = rank_of(trace);
  for (const KernelLaunch& row : *launches) {
    report.table.rows.push_back({rank, row.name, row.launch, report::text_cell(row.op), row.device,
                                 row.stream, row.correlation, optional_cell(row.step),
                                 since_start(trace, row.start_ns), row.launch_call_ns,
                                 row.duration_ns, row.launch_delay_ns});
    duration += row.duration_ns;
    delay += row.launch_delay_ns;
  }
  report.totals = {{"count", static_cast<std::uint64_t>(launches->size())},
                   {"duration_ns", bounded(duration)},
                   {"launch_delay_ns", bounded(delay)}};
  report.source = analyses::source_report(trace);
  return report;
}

}  // namespace tbtrace
