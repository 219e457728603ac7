// The list of views: what each is made of. To add one, add it here, and draw it in web/views/.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include <tbtrace/analysis_context.h>
#include <tbtrace/checks.h>
#include <tbtrace/flame_graph.h>
#include <tbtrace/summary.h>
#include <tbtrace/tables.h>

#include "pages/command_text.h"
#include "pages/kernel_tables.h"
#include "pages/operator_tables.h"
#include "pages/summary_tables.h"
#include "pages/table_text.h"
#include "pages/view_content.h"

namespace tbtrace {
namespace {

using pages::ViewContent;
using pages::ViewedTrace;

constexpr std::string_view kMemoryWeight = "cpu_memory";

/// Rows of tables with a row for each event or gap: the largest.
constexpr std::size_t kMostSingleRows = 5000;

/// A table of the registry in a view.
struct TablePart {
  std::string_view name;
  std::string_view title;
  std::string_view table;
  std::vector<std::pair<std::string, OptionValue>> options = {};
  std::string_view sort_by = {};
  std::string_view columns_with = {};  ///< the option or value with columns of its own
  bool is_curve = false;
  std::size_t most_rows = std::numeric_limits<std::size_t>::max();
  std::vector<std::string> shown = {};  ///< what people see first; empty: as the table says
};

struct StacksPart {
  std::string_view name;
  std::string_view title;
  std::string_view weight;
  std::string_view table;  ///< which is empty for the same reason
};

struct ViewParts {
  ViewDescription view;
  std::vector<TablePart> tables = {};
  std::vector<StacksPart> stacks = {};
  bool has_timeline = false;
  /// Adds what the registry does not have, also to its tables.
  Status (*add)(const ViewedTrace& viewed, ViewContent& content) = nullptr;
};

std::vector<ColumnDescription> columns_of(const TableDescription& table,
                                          std::string_view columns_with) {
  std::vector<ColumnDescription> columns = table.columns;
  for (const ColumnsWithOptions& more : table.more_columns) {
    if (more.of == "totals" || more.options.find(columns_with) == std::string_view::npos) continue;
    columns.insert(columns.end(), more.columns.begin(), more.columns.end());
  }
  return columns;
}

/// Why a table of the registry has no rows.
std::string why_empty(const TableDescription& table, const OptionValues& given,
                      const Trace& trace) {
  return why_no_rows(table, *complete_options(table, given), &trace);
}

/// Why stacks have no weight.
std::string why_no_weight(const StacksPart& part, const Trace& trace) {
  if (part.weight == kMemoryWeight &&
      recorded_option(trace, RecordedOption::profile_memory).has_data) {
    return "no operator allocated memory on the CPU";
  }
  return why_empty(*table_named(part.table), {}, trace);
}

Status add_table(const TablePart& part, const ViewedTrace& viewed, std::size_t most_rows,
                 ViewContent& content) {
  const TableDescription& table = *table_named(part.table);
  OptionValues options;
  options.of_command_line = true;  // people give them to the command that is below the table
  for (const auto& [name, value] : part.options) options.set(name, value);
  if (viewed.steps) options.set(steps_option().name, *viewed.steps);
  if (part.sort_by.empty() && !part.is_curve) options.most_rows = part.most_rows;
  const Trace& trace = viewed.trace;
  Result<AnalysisReport> report = make_table(table, trace, options);
  constexpr std::string_view kKeepTail = "keep_tail_steps";
  if (!report.ok() && viewed.steps && table.option(kKeepTail) != nullptr) {
    // The trace has the steps, but the table leaves out those at the end.
    options.set(kKeepTail, true);
    report = make_table(table, trace, options);
  }
  if (!report.ok()) return report.status();
  const std::size_t left_out = report->left_out;
  std::string empty;
  if (report->table.rows.empty()) empty = why_empty(table, options, trace);
  if (!part.shown.empty()) report->shown = part.shown;
  if (!part.sort_by.empty()) {
    Result<Table> sorted = report_rows(std::move(*report), {.sort_by = std::string(part.sort_by)});
    if (!sorted.ok()) return sorted.status();
    report->table = *std::move(sorted);
  }
  content.tables.push_back({.name = part.name,
                            .title = part.title,
                            .command = pages::command_text(table, options, part.sort_by),
                            .report = *std::move(report),
                            .sort_by = part.sort_by,
                            .is_curve = part.is_curve,
                            .most_rows = part.most_rows,
                            .left_out = left_out,
                            .columns = columns_of(table, part.columns_with),
                            .empty = std::move(empty)});
  pages::drop_rows(content.tables.back(), most_rows);
  return {};
}

Status add_stacks(const StacksPart& part, const ViewedTrace& viewed, ViewContent& content) {
  Result<StackTree> tree =
      flame_graph(viewed.trace, {.weight = std::string(part.weight), .steps = viewed.steps});
  if (!tree.ok()) return tree.status();
  std::string empty = tree->total() == 0 ? why_no_weight(part, viewed.trace) : "";
  content.stacks.push_back({.name = part.name,
                            .title = part.title,
                            .tree = *std::move(tree),
                            .empty = std::move(empty)});
  return {};
}

Status add_summary(const ViewedTrace& viewed, ViewContent& content) {
  if (!viewed.steps) {
    content.tables = pages::summary_tables(trace_summary(viewed.trace));
    return {};
  }
  const Result<TraceSummary> summary = summary_of_steps(viewed.trace, *viewed.steps);
  if (summary.ok()) content.tables = pages::summary_tables(*summary);
  return summary.status();
}

Status add_checks(const ViewedTrace& viewed, ViewContent& content) {
  const std::array<CheckedInput, 1> checked = {checked_input({}, viewed.trace)};
  const TableDescription& table = *table_named("check");
  AnalysisReport report = checks_report(checked);
  const bool is_empty = report.table.rows.empty();
  content.tables.push_back({.name = "checks",
                            .title = "Checks",
                            .command = pages::command_text(table, {}, {}),
                            .report = std::move(report),
                            .columns = table.columns,
                            .empty = is_empty ? "no damage and no contradiction was found" : ""});
  return {};
}

const std::vector<ViewParts>& view_list() {
  using Text = std::string;
  static const std::vector<std::pair<std::string, OptionValue>> kPlugin = {
      {"figures", Text("plugin")}};
  static const std::vector<ViewParts> kViews = {
      {.view = {"summary", "Summary", "What was recorded, what takes the time, and what to do."},
       .add = add_summary},
      {.view = {"timeline", "Timeline", "What ran when, on each thread and stream."},
       .has_timeline = true},
      {.view = {"steps", "Steps", "What the time of each step was spent on."},
       .tables = {{.name = "steps", .title = "Steps", .table = "steps"}}},
      {.view = {"operators", "Operators", "What each operator took, without what ran inside."},
       .add = pages::add_operator_tables},
      {.view = {"kernels", "Kernels", "What ran on the GPU, and what launched it."},
       .tables =
           {{.name = "by_name", .title = "By name", .table = "kernels", .sort_by = "total_ns"},
            {.name = "by_operator",
             .title = "By operator",
             .table = "kernels",
             .options = {{"group_by", Text("operator")}},
             .sort_by = "total_ns",
             .columns_with = "operator"},
            {.name = "by_launch",
             .title = "By operator and grid size",
             .table = "kernels",
             .options = {{"group_by", Text("launch")}},
             .sort_by = "total_ns",
             .columns_with = "launch",
             .shown = {"short_name", "operator", "grid", "block", "count", "total_ns", "mean_ns",
                       "registers", "shared_memory_bytes", "occupancy_percent"}},
            {.name = "by_family",
             .title = "By family",
             .table = "kernels",
             .options = {{"group_by", Text("family")}},
             .sort_by = "total_ns",
             .columns_with = "family"},
            {.name = "occupancy",
             .title = "Occupancy",
             .table = "occupancy",
             .sort_by = "total_ns"}},
       .add = pages::add_kernel_origins},
      {.view = {"gpu", "GPU", "How busy each GPU was, with what, and why it was idle."},
       .tables =
           {{.name = "devices", .title = "Devices", .table = "gpu"},
            {.name = "streams",
             .title = "Streams",
             .table = "gpu",
             .options = {{"group_by", Text("stream")}}},
            {.name = "gaps", .title = "Gaps", .table = "gaps", .most_rows = kMostSingleRows}}},
      {.view = {"serving", "Serving", "Prefill and decode of an inference engine."},
       .tables = {{.name = "by_kind",
                   .title = "By kind",
                   .table = "serving",
                   .options = {{"group_by", Text("kind")}}},
                  {.name = "by_batch",
                   .title = "By kind and number of requests",
                   .table = "serving"}}},
      {.view = {"memory", "Memory", "How much memory was allocated, and what held the peak."},
       .tables = {{.name = "peak", .title = "Peaks", .table = "memory"},
                  {.name = "alive",
                   .title = "At the peak",
                   .table = "memory",
                   .options = {{"view", Text("alive")}},
                   .columns_with = "alive"},
                  {.name = "curve",
                   .title = "Curve",
                   .table = "memory",
                   .options = {{"view", Text("curve")}},
                   .columns_with = "curve",
                   .is_curve = true},
                  {.name = "allocations",
                   .title = "Allocations",
                   .table = "memory",
                   .options = {{"view", Text("allocations")}},
                   .sort_by = "bytes",
                   .columns_with = "allocations",
                   .most_rows = kMostSingleRows}}},
      {.view = {"modules", "Modules", "What each module of the model cost, as a tree."},
       .tables = {{.name = "tree", .title = "Tree", .table = "modules"},
                  {.name = "layers",
                   .title = "Repeated layers",
                   .table = "modules",
                   .options = {{"group_by", Text("layer")}},
                   .columns_with = "layer"},
                  {.name = "classes",
                   .title = "Classes",
                   .table = "modules",
                   .options = {{"group_by", Text("type")}},
                   .columns_with = "type"}}},
      {.view = {"model", "Model", "What the model costs, and how each figure is known."},
       .tables = {{.name = "figures", .title = "Figures", .table = "model"},
                  {.name = "tree",
                   .title = "Modules",
                   .table = "modules",
                   .options = {{"depth", std::int64_t{2}}}},
                  {.name = "peak", .title = "Peaks of memory", .table = "memory"}}},
      {.view = {"lines", "Lines", "What each line of source cost."},
       .tables = {{.name = "own", .title = "Your own code", .table = "lines"},
                  {.name = "all",
                   .title = "All code",
                   .table = "lines",
                   .options = {{"libraries", true}}},
                  {.name = "memory",
                   .title = "Memory",
                   .table = "lines",
                   .options = {{"view", Text("memory")}},
                   .columns_with = "memory"}}},
      {.view = {"flops", "FLOPs", "What operators computed, and how close to the device's peak."},
       .tables = {{.name = "by_name", .title = "By name", .table = "flops"},
                  {.name = "by_shape",
                   .title = "By input shape",
                   .table = "flops",
                   .options = {{"by_input_shape", true}},
                   .columns_with = "shape"}}},
      {.view = {"flame_graph", "Flame graph", "Which calls the time and the memory went to."},
       .stacks = {{"cpu", "CPU time", "self_cpu_time_total", "threads"},
                  {"device", "Device time", "self_device_time_total", "gpu"},
                  {"memory", "CPU memory", kMemoryWeight, "memory"}}},
      {.view = {"threads", "Threads", "How busy each thread of the host was."},
       .tables = {{.name = "threads", .title = "Threads", .table = "threads"}}},
      {.view = {"checks", "Checks", "Whether the trace is damaged, incomplete or contradictory."},
       .add = add_checks},
      {.view = {"plugin", "Plugin's figures",
                "What PyTorch's TensorBoard plugin (torch-tb-profiler) shows of the trace, counted "
                "by its "
                "rules, to compare with its pages.",
                false},
       .tables =
           {{.name = "steps",
             .title = "Overview: steps",
             .table = "steps",
             .options = kPlugin,
             .shown =
                 {"name", "duration_ns", "kernel_ns", "memcpy_ns", "memset_ns", "communication_ns",
                  "runtime_ns", "data_loader_ns", "cpu_op_ns", "other_ns"}},
            {.name = "gpu", .title = "Overview: GPU summary", .table = "gpu", .options = kPlugin},
            {.name = "kernels", .title = "GPU Kernel", .table = "kernels", .options = kPlugin},
            {.name = "kernel_properties",
             .title = "GPU Kernel: properties and operator",
             .table = "kernels",
             .options = {{"figures", Text("plugin")}, {"group_by", Text("launch")}},
             .columns_with = "launch"},
            {.name = "memory", .title = "Memory", .table = "memory", .options = kPlugin},
            {.name = "memory_curve",
             .title = "Memory: curve",
             .table = "memory",
             .options = {{"figures", Text("plugin")}, {"view", Text("curve")}},
             .columns_with = "curve",
             .is_curve = true},
            {.name = "memory_events",
             .title = "Memory: events",
             .table = "memory",
             .options = {{"figures", Text("plugin")}, {"view", Text("allocations")}},
             .columns_with = "allocations",
             .most_rows = kMostSingleRows},
            {.name = "modules", .title = "Module", .table = "modules", .options = kPlugin}},
       .add = pages::add_plugin_operators},
  };
  return kViews;
}

}  // namespace

std::span<const ViewDescription> views() {
  static const std::vector<ViewDescription> kDescriptions = [] {
    std::vector<ViewDescription> descriptions;
    for (const ViewParts& parts : view_list()) descriptions.push_back(parts.view);
    return descriptions;
  }();
  return kDescriptions;
}

const ViewDescription* view_named(std::string_view name) {
  const std::span<const ViewDescription> all = views();
  const auto found = std::ranges::find(all, name, &ViewDescription::name);
  return found == all.end() ? nullptr : &*found;
}

ArgumentSet view_arguments() {
  ArgumentSet arguments = kSummaryArguments | kOperatorArguments | kModuleArguments |
                          ArgumentSet{ArgumentGroup::annotations} |
                          table_named("collectives")->all_arguments();
  for (const ViewParts& parts : view_list()) {
    for (const TablePart& part : parts.tables) {
      arguments = arguments | table_named(part.table)->all_arguments();
    }
  }
  return arguments;
}

Result<ViewContent> pages::view_content(const ViewDescription& view, const ViewedTrace& viewed,
                                        const ViewLimits& limits) {
  const auto parts =
      std::ranges::find(view_list(), view.name, [](const ViewParts& of) { return of.view.name; });
  ViewContent content{.view = &view};
  for (const TablePart& part : parts->tables) {
    if (Status added = add_table(part, viewed, limits.rows, content); !added.ok()) return added;
  }
  for (const StacksPart& part : parts->stacks) {
    if (Status added = add_stacks(part, viewed, content); !added.ok()) return added;
  }
  if (parts->has_timeline) {
    content.timeline = std::make_shared<const analyses::Timeline>(analyses::timeline(
        viewed.part, {.ranges = limits.ranges, .arguments = limits.range_arguments}));
  }
  if (parts->add != nullptr) {
    if (Status added = parts->add(viewed, content); !added.ok()) return added;
    for (TableContent& table : content.tables) drop_rows(table, limits.rows);
  }
  return content;
}

}  // namespace tbtrace
