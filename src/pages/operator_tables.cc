#include "pages/operator_tables.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/analysis_context.h>
#include <tbtrace/compat.h>
#include <tbtrace/operators.h>
#include <tbtrace/tables.h>

#include "pages/command_text.h"

namespace tbtrace {
namespace {

/// Exact figures.
constexpr std::string_view kStrict = "strict-totals";

/// Why rows cannot be grouped by what an option records; empty if they can.
std::string missing_text(const Trace& trace, RecordedOption option) {
  const RecordedOptionState state = recorded_option(trace, option);
  if (state.has_data) return {};
  return "the trace has no " + std::string(state.data) + "; " + missing_data_text(trace, option);
}

/// The columns that people see first.
std::vector<std::string> shown_of_operators(const OperatorSummary& summary,
                                            const SummaryOptions& options) {
  std::vector<std::string> shown = {"key"};
  if (options.group_by_input_shape) shown.emplace_back("input_shapes");
  if (options.group_by_stack_n > 0) shown.emplace_back("stack");
  shown.insert(shown.end(), {"device_type", "count"});
  if (summary.data().use_device) {
    shown.insert(shown.end(), {"self_device_time_total_ns", "device_time_total_ns"});
  }
  shown.insert(shown.end(), {"self_cpu_time_total_ns", "cpu_time_total_ns"});
  if (summary.data().profile_memory) shown.emplace_back("self_cpu_memory_usage_bytes");
  if (summary.data().profile_memory && summary.data().use_device) {
    shown.emplace_back("self_device_memory_usage_bytes");
  }
  return shown;
}

}  // namespace

Status pages::add_operator_tables(const ViewedTrace& viewed, ViewContent& content) {
  const Trace& trace = viewed.part;
  struct Grouping {
    std::string_view name;
    std::string_view title;
    std::vector<CommandOption> command;
    SummaryOptions options;
    std::optional<RecordedOption> needs = {};
  };
  const std::array groupings = {
      Grouping{"by_name", "By name", {{kStrict}}, {}},
      Grouping{"by_shape",
               "By input shape",
               {{kStrict}, {"group-by-input-shape"}},
               {.group_by_input_shape = true},
               RecordedOption::record_shapes},
      Grouping{"by_stack",
               "By stack",
               {{kStrict}, {"group-by-stack-n", "5"}, {"stack-source", "auto"}},
               {.group_by_stack_n = 5, .stack_source = StackSource::either},
               RecordedOption::with_stack},
  };
  for (const Grouping& grouping : groupings) {
    std::vector<CommandOption> command = grouping.command;
    add_steps(command, viewed.steps);
    std::string empty = grouping.needs ? missing_text(trace, *grouping.needs) : "";
    if (!empty.empty()) {
      content.tables.push_back({.name = grouping.name,
                                .title = grouping.title,
                                .command = command_text("ops", command),
                                .report = {},
                                .empty = std::move(empty)});
      continue;
    }
    const OperatorSummary summary = exact_operator_summary(trace, grouping.options);
    const std::string_view sort_by =
        summary.data().use_device ? "self_device_time_total" : "self_cpu_time_total";
    command.push_back({"sort-by", std::string(sort_by)});
    Result<AnalysisReport> report =
        summary.report({.sort_by = std::string(sort_by), .row_limit = -1});
    if (!report.ok()) return report.status();
    const bool is_empty = report->table.rows.empty();
    report->shown = shown_of_operators(summary, grouping.options);
    report->notes.emplace_back("[idle] is the time in which threads of the host ran nothing.");
    content.tables.push_back({.name = grouping.name,
                              .title = grouping.title,
                              .command = command_text("ops", command),
                              .report = *std::move(report),
                              .sort_by = summary.data().use_device ? "self_device_time_total_ns"
                                                                   : "self_cpu_time_total_ns",
                              .columns = table_named("ops")->columns,
                              .empty = is_empty ? "the trace has no operators" : ""});
  }
  return {};
}

Status pages::add_plugin_operators(const ViewedTrace& viewed, ViewContent& content) {
  for (const bool by_shape : {false, true}) {
    const Result<OperatorSummary> summary =
        operator_summary(viewed.part, Figures::plugin, {.group_by_input_shape = by_shape});
    if (!summary.ok()) return summary.status();
    Result<AnalysisReport> report = summary->report({.row_limit = -1});
    if (!report.ok()) return report.status();
    std::vector<CommandOption> command = {{"compat", "plugin"}};
    add_steps(command, viewed.steps);
    if (by_shape) command.push_back({"group-by-input-shape"});
    report->shown = {"key"};
    if (by_shape) report->shown.emplace_back("input_shapes");
    report->shown.insert(report->shown.end(),
                         {"count", "self_device_time_total_ns", "device_time_total_ns",
                          "self_cpu_time_total_ns", "cpu_time_total_ns"});
    const bool is_empty = report->table.rows.empty();
    content.tables.push_back({.name = by_shape ? "operators_by_shape" : "operators",
                              .title = by_shape ? "Operator and input shape" : "Operator",
                              .command = command_text("ops", command),
                              .report = *std::move(report),
                              .columns = table_named("ops")->columns,
                              .empty = is_empty ? "the trace has no operators" : ""});
  }
  return {};
}

}  // namespace tbtrace
