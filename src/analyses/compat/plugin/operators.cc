#include "analyses/compat/plugin/operators.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analyses/attribution/operator_kind.h"
#include "analyses/compat/plugin/rules.h"
#include "analyses/compat/plugin/tree.h"
#include "analyses/grouping/stacks.h"
#include "analyses/operators/row_groups.h"
#include "analyses/operators/rows.h"
#include "analyses/torch/names.h"
#include "base/characters.h"
#include "report/duration.h"
#include "report/source_report.h"

namespace tbtrace::analyses {
namespace {

/// Whether the JSON is a list of whole numbers or of such lists.
bool is_number_list(std::string_view json) {
  std::size_t depth = 0;
  char before = ',';  // the previous character: `[`, `,`, `]`, a digit, or `-`
  for (const char c : json) {
    if (c == ' ' || c == '\n') {
      if (before == '-') return false;
      if (before == '0') before = ']';  // a number ends there
      continue;
    }
    const bool digit = is_digit(c);
    const bool value_may_start = before == '[' || before == ',';
    if (c == '[') {
      if (!value_may_start || (depth == 0 && before == '[')) return false;
      ++depth;
    } else if (c == ']') {
      if (depth == 0 || before == ',' || before == '-') return false;
      --depth;
    } else if (c == ',') {
      if (depth == 0 || value_may_start || before == '-') return false;
    } else if (depth == 0 || !(digit || c == '-') || (c == '-' && !value_may_start) ||
               (digit && before == ']')) {
      return false;
    }
    before = digit ? '0' : c;
  }
  return depth == 0 && before == ']';
}

/// A JSON list as Python prints it: one blank after each comma and none elsewhere.
std::string python_list(std::string_view json) {
  if (!is_number_list(json)) return "[]";
  std::string text;
  for (const char c : json) {
    if (c == ' ' || c == '\n') continue;
    text += c;
    if (c == ',') text += ' ';
  }
  return text.empty() ? "[]" : text;
}

struct OperatorSums {
  double host = 0;
  double self_host = 0;
  double device = 0;
  double self_device = 0;
};

}  // namespace

OperatorSummary plugin_summary(std::span<const Trace* const> traces,
                               const SummaryOptions& options) {
  RowGroups groups;
  std::vector<OperatorSums> sums;
  bool any_device = false;
  for (const Trace* trace : traces) {
    const PluginTree tree(*trace);
    TorchNames names(*trace);
    StackGroups stacks(*trace, names,
                       static_cast<std::size_t>(std::max(options.group_by_stack_n, 0)),
                       options.stack_source);
    for (const PluginTree::NodeId id : tree.operators()) {
      const PluginTree::Node& node = tree.node(id);
      std::string overload;  // part of the name here
      if (options.group_by_overload_name && trace->kind(node.event) == EventKind::cpu_op) {
        overload = names.text(names.get(trace->events().name(node.event), true).overload);
      }
      std::string shapes;
      if (options.group_by_input_shape) {
        shapes = python_list(trace->argument_text(node.event, Argument::input_dims));
      }
      std::vector<std::string> stack = stacks.of(node.event);
      bool added = false;
      const std::size_t row = groups.find({.name = groups.number(trace->name(node.event)),
                                           .shapes = groups.number(shapes),
                                           .stack = groups.number(joined(stack))},
                                          added);
      if (added) {
        sums.emplace_back();
        groups[row].kind = operator_kind(*trace, node.event);
        groups[row].overload_name = std::move(overload);
        groups[row].input_shapes = std::move(shapes);
        groups[row].stack = std::move(stack);
      }
      ++groups[row].count;
      sums[row].host += node.end - node.start;
      sums[row].self_host += node.self_host;
      sums[row].device += node.device;
      sums[row].self_device += node.self_device;
    }
    for (const Category& category : trace->categories()) {
      any_device = any_device || is_plugin_work(category);
    }
  }
  for (std::size_t row = 0; row < sums.size(); ++row) {
    groups[row].cpu_time_total = report::duration_of_us(sums[row].host);
    groups[row].self_cpu_time_total = report::duration_of_us(sums[row].self_host);
    groups[row].device_time_total = report::duration_of_us(sums[row].device);
    groups[row].self_device_time_total = report::duration_of_us(sums[row].self_device);
  }
  OperatorRows rows = table_facts(traces);
  rows.profile_memory = false;
  rows.with_flops = false;
  rows.device_time_on_operators = true;
  rows.grouped_by_shape = options.group_by_input_shape;
  rows.rows = std::move(groups.rows());
  std::stable_sort(rows.rows.begin(), rows.rows.end(),
                   [&](const OperatorRow& a, const OperatorRow& b) {
                     return any_device ? a.self_device_time_total.us > b.self_device_time_total.us
                                       : a.self_cpu_time_total.us > b.self_cpu_time_total.us;
                   });
  return OperatorSummary(std::move(rows), Figures::plugin, report::source_report(traces));
}

}  // namespace tbtrace::analyses
