// Kernels as the rows of `tbtrace.kernels/1`.
#include "analyses/kernels/report.h"

#include <algorithm>
#include <utility>

#include <tbtrace/kernels.h>

#include "analyses/attribution/work_times.h"
#include "analyses/kernels/grouping.h"
#include "base/bounded_sum.h"
#include "report/group_columns.h"
#include "report/optional_cell.h"
#include "report/source_report.h"
#include "report/table_columns.h"
#include "report/table_list.h"
#include "report/totals.h"
#include "trace/times.h"

namespace tbtrace {
namespace {

using analyses::KernelColumns;
using report::optional_cell;

Cell sizes_cell(const std::optional<Dim3>& sizes) {
  return optional_cell(analyses::sizes_of(sizes));
}

Cell percent(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return {};
  return 100 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::optional<Json> analyses::sizes_of(const std::optional<Dim3>& sizes) {
  if (!sizes) return std::nullopt;
  return Json{"[" + std::to_string(sizes->x) + ", " + std::to_string(sizes->y) + ", " +
              std::to_string(sizes->z) + "]"};
}

void analyses::KernelColumns::add(const std::string& name, bool is_shown, Value value) {
  names_.push_back(name);
  if (is_shown) shown_.push_back(name);
  values_.push_back(std::move(value));
}

AnalysisReport analyses::KernelColumns::report(const std::vector<KernelGroup>& groups) && {
  AnalysisReport report;
  report.schema = kernels_table().schema;
  for (const KernelGroup& group : groups) {
    std::vector<Cell>& row = report.table.rows.emplace_back();
    for (const Value& value : values_) row.push_back(value(group));
  }
  report.table.columns = std::move(names_);
  report.shown = std::move(shown_);
  // Of a launch configuration its cost is read before its operator.
  const auto name = std::ranges::find(report.shown, "short_name");
  const auto op = std::find(name, report.shown.end(), "operator");
  if (op != report.shown.end()) std::rotate(op, op + 1, report.shown.end());
  return report;
}

void analyses::add_keys(KernelColumns& columns, std::optional<std::int64_t> rank,
                        const KernelsOptions& options) {
  columns.add("rank", true, [rank](const KernelGroup&) { return optional_cell(rank); });
  const auto add_operator = [&columns] {
    columns.add("operator", true, [](const KernelGroup& group) { return Cell(group.op); });
  };
  const bool by_op = analyses::groups_by(options, KernelGrouping::op);
  if (by_op) add_operator();
  const bool by_launch = analyses::groups_by(options, KernelGrouping::launch);
  const bool by_family = analyses::groups_by(options, KernelGrouping::family);
  if (analyses::groups_by_name(options)) {
    columns.add("name", false, [](const KernelGroup& group) { return Cell(group.name); });
    columns.add("short_name", true,
                [](const KernelGroup& group) { return Cell(group.short_name); });
  }
  if (analyses::groups_by(options, KernelGrouping::label)) {
    columns.add("label", true, [](const KernelGroup& group) { return Cell(group.label); });
  }
  if (analyses::groups_by_name(options) || by_family) {
    columns.add("family", by_family, [](const KernelGroup& group) {
      return Cell(std::string(kernel_family_name(group.family)));
    });
  }
  if (by_launch && !by_op) add_operator();
  if (by_launch) {
    columns.add("grid", true, [](const KernelGroup& group) { return sizes_cell(group.grid); });
    columns.add("block", true, [](const KernelGroup& group) { return sizes_cell(group.block); });
    columns.add("registers", false,
                [](const KernelGroup& group) { return optional_cell(group.registers); });
    columns.add("shared_memory_bytes", false,
                [](const KernelGroup& group) { return optional_cell(group.shared_memory_bytes); });
  }
  for (const report::GroupColumn& column : report::group_columns(options.by)) {
    if (column.key == GroupKey::rank) continue;
    columns.add(std::string(column.name), column.name != "stream_name",
                [column](const KernelGroup& group) { return column.cell(group.values); });
  }
}

void analyses::add_times(KernelColumns& columns, std::int64_t all_ns) {
  columns.add("count", true, [](const KernelGroup& group) { return Cell(group.count); });
  columns.add("total_ns", true, [](const KernelGroup& group) { return Cell(group.total_ns); });
  columns.add("share_percent", true,
              [all_ns](const KernelGroup& group) { return percent(group.total_ns, all_ns); });
  columns.add("mean_ns", true, [](const KernelGroup& group) { return Cell(group.mean_ns); });
  columns.add("min_ns", false, [](const KernelGroup& group) { return Cell(group.min_ns); });
  columns.add("max_ns", true, [](const KernelGroup& group) { return Cell(group.max_ns); });
  columns.add("stddev_ns", false, [](const KernelGroup& group) { return Cell(group.stddev_ns); });
}

namespace {

void add_percentiles(KernelColumns& columns) {
  columns.add("median_ns", false, [](const KernelGroup& group) { return Cell(group.median_ns); });
  columns.add("p90_ns", false, [](const KernelGroup& group) { return Cell(group.p90_ns); });
  columns.add("p99_ns", false, [](const KernelGroup& group) { return Cell(group.p99_ns); });
}

void add_use_of_device(KernelColumns& columns, bool has_name) {
  if (has_name) {
    columns.add("tensor_cores_used", true,
                [](const KernelGroup& group) { return optional_cell(group.tensor_cores_used); });
  }
  columns.add("tensor_core_ns", !has_name,
              [](const KernelGroup& group) { return Cell(group.tensor_core_ns); });
  columns.add("blocks_per_sm", false,
              [](const KernelGroup& group) { return optional_cell(group.blocks_per_sm); });
  columns.add("occupancy_percent", true,
              [](const KernelGroup& group) { return optional_cell(group.occupancy_percent); });
}

void add_launches(KernelColumns& columns) {
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

AnalysisReport::Totals totals_of(const KernelSummary& summary) {
  const KernelGroup& all = summary.all;
  return {{"count", all.count},
          {"total_ns", all.total_ns},
          {"tensor_core_ns", all.tensor_core_ns},
          {"launches", all.launches},
          {"without_launch", all.without_launch},
          {"launch_call_ns", all.launch_call_ns},
          {"launch_delay_mean_ns", optional_cell(all.launch_delay_mean_ns)},
          {"launch_delay_max_ns", all.launch_delay_max_ns},
          {"launch_delay_total_ns", all.launch_delay_total_ns},
          {"short_kernels", all.short_kernels},
          {"memcpys", summary.memcpys},
          {"memcpy_ns", summary.memcpy_ns},
          {"memsets", summary.memsets},
          {"memset_ns", summary.memset_ns}};
}

/// The mean is that of all launched kernels; the longest delay is that of any row.
AnalysisReport::Totals joined_totals(const AnalysisReport::Totals& sums, const Table& rows) {
  AnalysisReport::Totals totals = sums;
  const auto launched = std::get<std::uint64_t>(*report::total_named(totals, "count")) -
                        std::get<std::uint64_t>(*report::total_named(totals, "without_launch"));
  const auto delay = std::get<std::int64_t>(*report::total_named(totals, "launch_delay_total_ns"));
  *report::total_named(totals, "launch_delay_mean_ns") =
      launched == 0 ? Cell() : Cell(static_cast<double>(delay) / static_cast<double>(launched));
  const std::size_t column = *report::column_named(rows, "launch_delay_max_ns");
  std::int64_t longest = 0;
  for (const std::vector<Cell>& row : rows.rows) {
    longest = std::max(longest, std::get<std::int64_t>(row[column]));
  }
  *report::total_named(totals, "launch_delay_max_ns") = longest;
  return totals;
}

}  // namespace

AnalysisReport analyses::kernel_report_of(const KernelSummary& summary,
                                          const KernelsOptions& options,
                                          std::optional<std::int64_t> rank, SourceReport source) {
  KernelColumns columns;
  add_keys(columns, rank, options);
  add_times(columns, summary.all.total_ns);
  add_percentiles(columns);
  add_use_of_device(columns, analyses::groups_by_name(options));
  add_launches(columns);
  AnalysisReport report = std::move(columns).report(summary.groups);
  report.totals = totals_of(summary);
  report.joined_totals = joined_totals;
  report.source = std::move(source);
  return report;
}

namespace {

/// Labels need the labels of graphs, shapes the inputs of operators.
Status check_read(const Trace& trace, bool with_labels, GroupKeySet by) {
  const TableDescription& table = analyses::kernels_table();
  ArgumentSet needed = with_labels ? table.all_arguments() : table.arguments;
  if (by.has(GroupKey::shape)) needed = needed | ArgumentSet{ArgumentGroup::inputs};
  return trace.check_read(needed, "kernels");
}

}  // namespace

Result<AnalysisReport> kernels_report(const Trace& trace, const KernelsOptions& options) {
  if (Status read =
          check_read(trace, analyses::groups_by(options, KernelGrouping::label), options.by);
      !read.ok())
    return read;
  const Result<KernelSummary> summary = kernel_summary(trace, options);
  if (!summary.ok()) return summary.status();
  AnalysisReport report = analyses::kernel_report_of(*summary, options, trace.identity().rank,
                                                     report::source_report(trace));
  report.notes = analyses::work_time_notes(trace);
  report.notes.insert(report.notes.end(), summary->notes.begin(), summary->notes.end());
  return report;
}

Result<AnalysisReport> kernel_launches_report(const Trace& trace, const KernelsOptions& options) {
  if (Status read = check_read(trace, true, {}); !read.ok()) return read;
  const Result<std::vector<KernelLaunch>> launches = kernel_launches(trace, options);
  if (!launches.ok()) return launches.status();
  AnalysisReport report;
  report.schema = analyses::kernels_table().schema;
  report.table.columns = analyses::kernels_table().column_names("per-event");
  report.shown = {"rank", "name", "duration_ns", "launch_delay_ns", "operator", "step", "stream"};
  const bool has_labels =
      std::ranges::any_of(*launches, [](const KernelLaunch& row) { return !row.label.empty(); });
  if (has_labels) report.shown.insert(report.shown.begin() + 5, "label");
  WideInteger duration = 0;
  WideInteger delay = 0;
  const Cell rank = optional_cell(trace.identity().rank);
  for (const KernelLaunch& row : *launches) {
    report.table.rows.push_back({rank, row.name, row.launch, row.op, report::text_cell(row.label),
                                 row.device, optional_cell(number_in_name(row.stream)), row.stream,
                                 row.correlation, optional_cell(row.step),
                                 since_start(trace, row.start_ns), row.launch_call_ns,
                                 row.duration_ns, row.launch_delay_ns,
                                 since_start(trace, row.launch_start_ns), row.queue_length});
    duration += row.duration_ns;
    delay += row.launch_delay_ns;
  }
  report.totals = {{"count", static_cast<std::uint64_t>(launches->size())},
                   {"duration_ns", bounded(duration)},
                   {"launch_delay_ns", bounded(delay)}};
  report.source = report::source_report(trace);
  return report;
}

}  // namespace tbtrace
