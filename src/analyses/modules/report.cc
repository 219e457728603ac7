// The modules of a trace as the rows of `tbtrace.modules/1`.
#include "analyses/modules/report.h"

#include <string>
#include <utility>

#include <tbtrace/modules.h>

#include "analyses/modules/groups.h"
#include "report/optional_cell.h"
#include "report/source_report.h"
#include "report/table_list.h"
#include "report/totals.h"

namespace tbtrace {
namespace {

using analyses::CostColumns;
using analyses::ModuleGroup;
using report::optional_cell;
using report::text_cell;

/// The last part of a path. (A dot in the name of a class makes it shorter; `path` has all.)
std::string name_of(const std::string& path) { return path.substr(path.rfind('.') + 1); }

ModuleGroup communication(const ModuleTree& tree) {
  ModuleGroup group;
  static_cast<ModuleCost&>(group.sum) = tree.communication;
  group.sum.path = "[communication]";
  return group;
}

/// What was done outside of all modules.
ModuleGroup outside(const ModuleTree& tree) {
  ModuleGroup group;
  static_cast<ModuleCost&>(group.sum) = tree.unattributed;
  group.sum.path = "[unattributed]";
  group.sum.parameters = tree.unattributed_parameters;
  group.sum.self_parameters = group.sum.parameters;
  return group;
}

std::vector<Cell> row_of(const Cell& rank, const ModuleGroup& group, ModuleGrouping group_by,
                         const CostColumns& columns) {
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
  columns.add_cells(row, sum);
  row.insert(row.end(), {optional_cell(sum.parameters), optional_cell(sum.self_parameters)});
  return row;
}

/// Ranks may have copies of one model, or parts of it; that is not known.
AnalysisReport::Totals joined_totals(const AnalysisReport::Totals& sums, const Table&) {
  AnalysisReport::Totals totals = sums;
  *report::total_named(totals, "parameters") = Cell();
  return totals;
}

}  // namespace

AnalysisReport analyses::module_report_of(const ModuleTree& tree, const ModulesOptions& options,
                                          const CostColumns& columns,
                                          std::optional<std::int64_t> of_rank,
                                          SourceReport source) {
  AnalysisReport report;
  report.schema = modules_table().schema;
  std::vector<std::string>& names = report.table.columns;
  names = modules_table().column_names();
  report.shown = {"rank", "name", "calls"};
  if (options.group_by != ModuleGrouping::module) {
    const std::vector<std::string> more = modules_table().column_names("layer");
    names.insert(std::ranges::find(names, "device_time_total_ns"), more.begin(), more.end());
    report.shown.insert(report.shown.end(), more.begin(), more.end());
  }
  if (options.group_by == ModuleGrouping::module)
    report.shown.insert(report.shown.begin() + 2, "type");
  columns.show(report);
  report.shown.emplace_back("parameters");
  if (options.group_by != ModuleGrouping::type) {
    report.tree = {.name = "name", .path = "path", .depth = "depth"};
  }
  const Cell rank = optional_cell(of_rank);
  for (const ModuleGroup& group : analyses::module_groups(tree, options)) {
    report.table.rows.push_back(row_of(rank, group, options.group_by, columns));
  }
  if (!tree.modules.empty()) {
    if (tree.communication.device_time_total_ns > 0) {
      report.table.rows.push_back(row_of(rank, communication(tree), options.group_by, columns));
    }
    report.table.rows.push_back(row_of(rank, outside(tree), options.group_by, columns));
  }
  report.totals = columns.totals(tree.total);
  add_waiting(report, tree.waiting_ns);
  report.totals.emplace_back("parameters", optional_cell(tree.parameters));
  report.totals.emplace_back("parameter_source",
                             std::string(parameter_source_name(tree.parameter_source)));
  report.joined_totals = joined_totals;
  report.source = std::move(source);
  return report;
}

Result<AnalysisReport> modules_report(const Trace& trace, const ModulesOptions& options) {
  if (Status read = trace.check_read(analyses::modules_table().arguments, "modules"); !read.ok()) {
    return read;
  }
  const Result<ModuleTree> tree = module_tree(trace, options);
  if (!tree.ok()) return tree.status();
  return analyses::module_report_of(*tree, options,
                                    CostColumns::of(trace, tree->has_shapes, tree->total),
                                    trace.identity().rank, report::source_report(trace));
}

}  // namespace tbtrace
