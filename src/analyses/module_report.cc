// The modules of a trace as the rows of `tbtrace.modules/1`.
#include <optional>
#include <string>
#include <utility>

#include <tbtrace/modules.h>

#include "analyses/module_groups.h"
#include "analyses/report_totals.h"
#include "analyses/source_report.h"
#include "report/optional_cell.h"

namespace tbtrace {
namespace {

using analyses::ModuleGroup;
using report::optional_cell;
using report::text_cell;

struct Column {
  const char* name;
  bool is_shown;  ///< in the text for people
  Cell (*value)(const ModuleGroup&);
};

template <auto Member>
Cell field(const ModuleGroup& group) {
  return group.sum.*Member;
}

template <auto Member>
Cell known(const ModuleGroup& group) {
  return optional_cell(group.sum.*Member);
}

constexpr Column kCosts[] = {
    {"device_time_total_ns", true, field<&ModuleRow::device_time_total_ns>},
    {"self_device_time_ns", true, field<&ModuleRow::self_device_time_ns>},
    {"backward_device_time_ns", true, field<&ModuleRow::backward_device_time_ns>},
    {"cpu_time_total_ns", true, field<&ModuleRow::cpu_time_total_ns>},
    {"self_cpu_time_ns", true, field<&ModuleRow::self_cpu_time_ns>},
    {"backward_cpu_time_ns", true, field<&ModuleRow::backward_cpu_time_ns>},
    {"cpu_memory_bytes", true, field<&ModuleRow::cpu_memory_bytes>},
    {"device_memory_bytes", true, field<&ModuleRow::device_memory_bytes>},
    {"self_cpu_memory_bytes", false, field<&ModuleRow::self_cpu_memory_bytes>},
    {"self_device_memory_bytes", false, field<&ModuleRow::self_device_memory_bytes>},
    {"macs", true, field<&ModuleRow::macs>},
    {"flops", false, field<&ModuleRow::flops>},
    {"backward_macs", false, field<&ModuleRow::backward_macs>},
    {"backward_flops", false, field<&ModuleRow::backward_flops>},
    {"parameters", true, known<&ModuleRow::parameters>},
    {"self_parameters", false, known<&ModuleRow::self_parameters>}};

/// The last part of a path. (A dot in the name of a class makes it shorter; `path` has all.)
std::string name_of(const std::string& path) { return path.substr(path.rfind('.') + 1); }

/// What was done outside of all modules.
ModuleGroup outside(const ModuleTree& tree) {
  ModuleGroup group;
  static_cast<ModuleCost&>(group.sum) = tree.unattributed;
  group.sum.path = "[unattributed]";
  std::optional<std::uint64_t> inside;
  for (const ModuleRow& row : tree.modules) {
    if (row.parent || !row.parameters) continue;
    inside = inside.value_or(0) + *row.parameters;
  }
  if (tree.parameters) group.sum.parameters = *tree.parameters - inside.value_or(0);
  group.sum.self_parameters = group.sum.parameters;
  return group;
}

std::vector<Cell> row_of(const Cell& rank, const ModuleGroup& group, ModuleGrouping group_by) {
  const ModuleRow& sum = group.sum;
  const bool is_outside = group.modules == 0;
  std::vector<Cell> row = {rank};
  if (group_by != ModuleGrouping::type || is_outside) {
    row.insert(row.end(), {name_of(sum.path), sum.path});
  } else {
    row.insert(row.end(), {sum.type, Cell()});
  }
  row.push_back(text_cell(sum.type));
  row.push_back(group_by == ModuleGrouping::type ? Cell()
                                                 : Cell(static_cast<std::uint64_t>(sum.depth)));
  row.push_back(optional_cell(sum.calls));
  if (group_by != ModuleGrouping::module) {
    row.push_back(group.modules);
    const Cell none;
    row.push_back(is_outside ? none : Cell(group.least_ns));
    row.push_back(is_outside ? none : Cell(group.most_ns));
    row.push_back(text_cell(group.slowest));
  }
  for (const Column& column : kCosts) row.push_back(column.value(group));
  return row;
}

/// Ranks may have copies of one model, or parts of it; that is not known.
AnalysisReport::Totals joined_totals(const AnalysisReport::Totals& sums, const Table&) {
  AnalysisReport::Totals totals = sums;
  *analyses::total_named(totals, "parameters") = Cell();
  return totals;
}

}  // namespace

Result<AnalysisReport> module_report(const Trace& trace, const ModuleReportOptions& options) {
  const Result<ModuleTree> tree = module_tree(trace, options);
  if (!tree.ok()) return tree.status();
  AnalysisReport report;
  report.schema = "tbtrace.modules/1";
  report.table.columns = {"rank", "name", "path", "type", "depth", "calls"};
  report.shown = {"rank", "name", "calls"};
  if (options.group_by != ModuleGrouping::module) {
    for (const char* name : {"modules", "least_ns", "most_ns", "slowest"}) {
      report.table.columns.emplace_back(name);
      report.shown.emplace_back(name);
    }
  }
  if (options.group_by == ModuleGrouping::module) report.shown.insert(report.shown.begin() + 2, "type");
  for (const Column& column : kCosts) {
    report.table.columns.emplace_back(column.name);
    if (column.is_shown) report.shown.emplace_back(column.name);
  }
  if (options.group_by != ModuleGrouping::type) {
    report.tree = {.name = "name", .path = "path", .depth = "depth"};
  }
  const Cell rank = optional_cell(trace.identity().rank);
  for (const ModuleGroup& group : analyses::module_groups(*tree, options)) {
    report.table.rows.push_back(row_of(rank, group, options.group_by));
  }
  if (!tree->modules.empty()) {
    report.table.rows.push_back(row_of(rank, outside(*tree), options.group_by));
  }
  report.totals = {
      {"device_time_total_ns", tree->total.device_time_total_ns},
      {"backward_device_time_ns", tree->total.backward_device_time_ns},
      {"cpu_time_total_ns", tree->total.cpu_time_total_ns},
      {"backward_cpu_time_ns", tree->total.backward_cpu_time_ns},
      {"cpu_memory_bytes", tree->total.cpu_memory_bytes},
      {"device_memory_bytes", tree->total.device_memory_bytes},
      {"macs", tree->total.macs},
      {"flops", tree->total.flops},
      {"backward_macs", tree->total.backward_macs},
      {"backward_flops", tree->total.backward_flops},
      {"parameters", optional_cell(tree->parameters)},
      {"parameter_source", std::string(parameter_source_name(tree->parameter_source))}};
  report.joined_totals = joined_totals;
  if (tree->total.device_time_total_ns == 0) {
    std::erase_if(report.shown, [](const std::string& name) { return name.find("device") != name.npos; });
  }
  report.source = analyses::source_report(trace);
  return report;
}

}  // namespace tbtrace
