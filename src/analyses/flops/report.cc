// The work of operators as the rows of `tbtrace.flops/1`.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <tbtrace/analysis_context.h>
#include <tbtrace/flops.h>

#include "analyses/flops/known_operations.h"
#include "base/bounded_sum.h"
#include "base/share.h"
#include "report/optional_cell.h"
#include "report/source_report.h"
#include "report/table_columns.h"
#include "report/table_list.h"
#include "report/totals.h"

namespace tbtrace {
namespace {

using report::optional_cell;
using report::text_cell;
using Totals = AnalysisReport::Totals;

std::optional<double> ratio(const std::optional<double>& part, const std::optional<double>& whole) {
  return part && whole && *whole > 0 ? std::optional(*part / *whole) : std::nullopt;
}

Cell bound_cell(const std::optional<bool>& is_memory_bound) {
  if (!is_memory_bound) return {};
  return std::string(*is_memory_bound ? "memory" : "compute");
}

std::vector<Cell> cells_of(const Cell& rank, const OperatorWork& row, bool by_input_shape) {
  std::vector<Cell> cells = {rank, row.name};
  if (by_input_shape) cells.push_back(text_cell(row.input_shapes));
  for (Cell cell :
       {Cell(std::string(work_state_name(row.state))),
        Cell(std::string(row.on_device ? "device" : "host")),
        text_cell(precision_name(row.precision)), Cell(row.count), optional_cell(row.macs),
        optional_cell(row.flops), Cell(row.torch_flops), optional_cell(row.traffic_bytes),
        Cell(row.device_time_ns), Cell(row.cpu_time_ns), optional_cell(row.flops_per_s),
        optional_cell(row.bytes_per_s), optional_cell(row.peak_flops_per_s),
        optional_cell(ratio(row.flops_per_s, row.peak_flops_per_s)),
        optional_cell(row.flops_per_byte), bound_cell(row.is_memory_bound),
        optional_cell(row.roof_flops_per_s),
        optional_cell(ratio(row.flops_per_s, row.roof_flops_per_s))}) {
    cells.push_back(std::move(cell));
  }
  return cells;
}

struct StateSums {
  std::uint64_t count = 0;
  std::int64_t device_time_ns = 0;
  std::int64_t cpu_time_ns = 0;
};

/// Of the rows with a state. They cannot overflow more than the totals, which are bounded.
StateSums sums_of(const OperatorWorkSummary& summary, WorkState state) {
  StateSums sums;
  for (const OperatorWork& row : summary.rows) {
    if (row.state != state) continue;
    sums.count += row.count;
    add_bounded(sums.device_time_ns, row.device_time_ns);
    add_bounded(sums.cpu_time_ns, row.cpu_time_ns);
  }
  return sums;
}

double number(const Cell* cell) {
  if (cell == nullptr) return 0;
  if (const auto* whole = std::get_if<std::int64_t>(cell)) return static_cast<double>(*whole);
  if (const auto* count = std::get_if<std::uint64_t>(cell)) return static_cast<double>(*count);
  return 0;
}

/// Sets the totals that are ratios of others. Where nothing is counted, not even a rate of 0 is
/// known.
void set_ratios(Totals& totals) {
  const auto sum = [&](std::string_view name) { return number(report::total_named(totals, name)); };
  const bool is_known =
      analyses::knows_operations({.counted = sum("flops"),
                                  .uncounted = sum("no_rule_count") + sum("unknown_sizes_count"),
                                  .device_ns = sum("device_time_total_ns"),
                                  .cpu_ns = sum("cpu_time_total_ns"),
                                  .window_ns = sum("window_ns")});
  const auto set = [&](std::string_view name, std::string_view part, double scale,
                       std::string_view whole) {
    const Cell* top = report::total_named(totals, part);
    const double divisor = sum(whole);
    const bool has_value = top != nullptr && !std::holds_alternative<std::monostate>(*top);
    *report::total_named(totals, name) =
        has_value && divisor > 0 && is_known ? Cell(number(top) * scale / divisor) : Cell();
  };
  set("forward_macs_per_sample", "forward_macs_in_steps", 1, "samples");
  set("flops_per_step", "flops_in_steps", 1, "steps");
  set("achieved_flops_per_s", "flops", 1e9, "window_ns");
  set("model_flops_utilization", "model_peak_time_ns", 1, "window_ns");
  set("hardware_flops_utilization", "hardware_peak_time_ns", 1, "window_ns");
}

Totals totals_of(const OperatorWorkSummary& summary) {
  const OperatorWork& all = summary.all;
  const StateSums unknown = sums_of(summary, WorkState::unknown_sizes);
  const StateSums unruled = sums_of(summary, WorkState::no_rule);
  const StateSums inside = sums_of(summary, WorkState::inside);
  std::optional<std::int64_t> hardware_ns;
  if (summary.model_peak_time_ns && summary.recomputed_peak_time_ns) {
    hardware_ns = bounded_sum(*summary.model_peak_time_ns, *summary.recomputed_peak_time_ns);
  }
  const auto counted = [&](std::uint64_t sum) { return summary.has_shapes ? Cell(sum) : Cell(); };
  Totals totals = {{"count", all.count},
                   {"macs", counted(all.macs.value_or(0))},
                   {"flops", counted(all.flops.value_or(0))},
                   {"torch_flops", all.torch_flops},
                   {"device_time_total_ns", all.device_time_ns},
                   {"cpu_time_total_ns", all.cpu_time_ns},
                   {"forward_macs", counted(summary.forward_macs)},
                   {"backward_macs", counted(summary.backward_macs)},
                   {"recomputed_macs", counted(summary.recomputed_macs)},
                   {"steps", summary.steps},
                   {"samples", optional_cell(summary.samples)},
                   {"forward_macs_in_steps", counted(summary.forward_macs_in_steps)},
                   {"forward_macs_per_sample", {}},
                   {"flops_in_steps", counted(summary.flops_in_steps)},
                   {"flops_per_step", {}},
                   {"window_ns", summary.window_ns},
                   {"achieved_flops_per_s", {}},
                   {"model_peak_time_ns", optional_cell(summary.model_peak_time_ns)},
                   {"model_flops_utilization", {}},
                   {"hardware_peak_time_ns", optional_cell(hardware_ns)},
                   {"hardware_flops_utilization", {}},
                   {"inside_count", inside.count},
                   {"inside_cpu_time_ns", inside.cpu_time_ns},
                   {"unknown_sizes_count", unknown.count},
                   {"unknown_sizes_device_time_ns", unknown.device_time_ns},
                   {"unknown_sizes_cpu_time_ns", unknown.cpu_time_ns},
                   {"no_rule_count", unruled.count},
                   {"no_rule_device_time_ns", unruled.device_time_ns},
                   {"no_rule_cpu_time_ns", unruled.cpu_time_ns}};
  set_ratios(totals);
  return totals;
}

Totals joined_totals(const Totals& sums, const Table&) {
  Totals totals = sums;
  set_ratios(totals);
  return totals;
}

/// Empty where nearly all that computes is counted.
std::string uncounted_note(const OperatorWorkSummary& summary) {
  const analyses::UncountedWork work = analyses::uncounted_work(summary);
  if (work.all_time_ns <= 0 || share(work.time_ns, work.all_time_ns) <= 0.1) return {};
  std::string note = std::to_string(std::lround(100 * share(work.time_ns, work.all_time_ns))) +
                     " % of the " + (work.on_device ? "device" : "CPU") +
                     " time is of work that is not counted (graphs, custom kernels, operators "
                     "without a rule or sizes)";
  if (summary.all.communication_time_ns > 0) note += ", apart from communication";
  return note +
         (summary.model_peak_time_ns ? ", so utilization is higher than the totals say." : ".");
}

std::vector<std::string> notes_of(const Trace& trace, const OperatorWorkSummary& summary,
                                  const FlopsOptions& options) {
  std::vector<std::string> notes;
  if (!summary.has_shapes && !summary.rows.empty()) {
    notes.push_back("The file has no shapes, so nothing can be counted: " +
                    missing_data_text(trace, RecordedOption::record_shapes) + ".");
  }
  if (summary.has_shapes) {
    const std::string note = uncounted_note(summary);
    if (!note.empty()) notes.push_back(note);
  }
  const bool has_rates =
      std::any_of(summary.rows.begin(), summary.rows.end(),
                  [](const OperatorWork& row) { return row.flops_per_s.has_value(); });
  if (!has_rates) return notes;
  if (!summary.peak_source.empty() && !options.peak_flops_per_s) {
    notes.push_back("Peaks of " + summary.device + " without sparsity: " + summary.peak_source +
                    ".");
  } else if (!options.peak_flops_per_s) {
    const std::string subject =
        !summary.has_device_work ? "The peak of the CPU is not known"
        : summary.device.empty()
            ? "The file does not name one kind of device, so the peak is not known"
            : "The peak of " + summary.device + " is not known";
    notes.push_back(subject + ". " + options.how_to_set_peaks);
  }
  return notes;
}

}  // namespace

Result<AnalysisReport> flops_report(const Trace& trace, const FlopsOptions& options) {
  if (Status read = trace.check_read(analyses::flops_table().arguments, "flops"); !read.ok()) {
    return read;
  }
  const Result<OperatorWorkSummary> summary = operator_work(trace, options);
  if (!summary.ok()) return summary.status();
  AnalysisReport report;
  report.schema = analyses::flops_table().schema;
  std::vector<std::string>& columns = report.table.columns;
  columns = analyses::flops_table().column_names();
  if (options.by_input_shape) columns.insert(columns.begin() + 2, "input_shapes");
  report.shown = {
      "rank",         "name",
      "input_shapes", "count",
      "flops",        summary->has_device_work ? "device_time_total_ns" : "cpu_time_total_ns",
      "flops_per_s",  "peak_share",
      "bound",        "state"};
  const Cell rank = optional_cell(trace.identity().rank);
  for (const OperatorWork& row : summary->rows) {
    report.table.rows.push_back(cells_of(rank, row, options.by_input_shape));
  }
  report.totals = totals_of(*summary);
  report.joined_totals = joined_totals;
  report.notes = notes_of(trace, *summary, options);
  report.source = report::source_report(trace);
  return report;
}

}  // namespace tbtrace
