#include "analyses/modules/groups.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/bounded_sum.h"

namespace tbtrace::analyses {
namespace {

void add_own(ModuleCost& sum, const ModuleCost& more) {
  add_bounded(sum.self_cpu_time_ns, more.self_cpu_time_ns);
  add_bounded(sum.self_device_time_ns, more.self_device_time_ns);
  add_bounded(sum.self_cpu_memory_bytes, more.self_cpu_memory_bytes);
  add_bounded(sum.self_device_memory_bytes, more.self_device_memory_bytes);
}

void add_count(std::uint64_t& sum, std::uint64_t more) {
  if (__builtin_add_overflow(sum, more, &sum)) sum = UINT64_MAX;
}

void add_total(ModuleCost& sum, const ModuleCost& more) {
  add_bounded(sum.cpu_time_total_ns, more.cpu_time_total_ns);
  add_bounded(sum.device_time_total_ns, more.device_time_total_ns);
  add_bounded(sum.backward_cpu_time_ns, more.backward_cpu_time_ns);
  add_bounded(sum.backward_device_time_ns, more.backward_device_time_ns);
  add_bounded(sum.cpu_memory_bytes, more.cpu_memory_bytes);
  add_bounded(sum.device_memory_bytes, more.device_memory_bytes);
  add_count(sum.macs, more.macs);
  add_count(sum.flops, more.flops);
  add_count(sum.backward_macs, more.backward_macs);
  add_count(sum.backward_flops, more.backward_flops);
}

void add_known(std::optional<std::uint64_t>& sum, std::optional<std::uint64_t> more) {
  if (!more) return;
  if (!sum) sum = 0;
  add_count(*sum, *more);
}

/// Rows down to a depth; the own figures of deeper ones are with the row around them.
std::vector<ModuleRow> cut_to_depth(const std::vector<ModuleRow>& modules, std::size_t depth) {
  std::vector<ModuleRow> rows;
  std::vector<std::size_t> row_of;  // by module: itself, or the row around it
  for (const ModuleRow& module : modules) {
    if (module.depth > depth) {
      const std::size_t around = row_of[*module.parent];
      row_of.push_back(around);
      add_own(rows[around], module);
      add_known(rows[around].self_parameters, module.self_parameters);
      continue;
    }
    row_of.push_back(rows.size());
    ModuleRow& row = rows.emplace_back(module);
    if (module.parent) row.parent = row_of[*module.parent];
  }
  return rows;
}

/// The last part of a module's path, relative to the module around it.
std::string_view name_in(const std::vector<ModuleRow>& modules, const ModuleRow& row) {
  std::string_view name = row.path;
  if (!row.parent) return name;
  const std::string& around = modules[*row.parent].path;
  if (name.size() > around.size() && name.starts_with(around) && name[around.size()] == '.') {
    name.remove_prefix(around.size() + 1);
  }
  return name;
}

/// With `*` for each part of a path that is a number.
std::string without_numbers(std::string_view name) {
  std::string pattern;
  while (true) {
    const std::size_t dot = name.find('.');
    const std::string_view part = name.substr(0, dot);
    const bool is_number =
        !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
    pattern += is_number ? std::string_view("*") : part;
    if (dot == std::string_view::npos) return pattern;
    pattern += '.';
    name.remove_prefix(dot + 1);
  }
}

}  // namespace

std::vector<std::string> layer_patterns(const std::vector<ModuleRow>& modules) {
  // By parent and class: how many there are, and how many came already.
  constexpr std::size_t kNone = SIZE_MAX;
  struct OfClass {
    std::size_t count = 0;
    std::size_t passed = 0;
  };
  std::map<std::pair<std::size_t, std::string_view>, OfClass> classes;
  std::vector<bool> has_parts(modules.size(), false);
  for (const ModuleRow& row : modules) {
    ++classes[{row.parent.value_or(kNone), row.type}].count;
    if (row.parent) has_parts[*row.parent] = true;
  }
  std::vector<std::string> patterns;
  patterns.reserve(modules.size());
  for (std::size_t at = 0; at < modules.size(); ++at) {
    const ModuleRow& row = modules[at];
    OfClass& alike = classes[{row.parent.value_or(kNone), row.type}];
    const std::size_t place = alike.passed++;
    const std::string_view name = name_in(modules, row);
    std::string pattern = row.parent ? patterns[*row.parent] + "." : "";
    const bool is_class_name =
        name.size() > row.type.size() && name.starts_with(row.type) && name[row.type.size()] == '_';
    if (is_class_name && alike.count > 1) {
      pattern += row.type + "_" + (has_parts[at] ? "*" : std::to_string(place));
    } else if (is_class_name) {
      pattern += row.type;
    } else {
      pattern += without_numbers(name);
    }
    patterns.push_back(std::move(pattern));
  }
  return patterns;
}

std::vector<ModuleGroup> module_groups(const ModuleTree& tree, const ModulesOptions& options) {
  const std::vector<ModuleRow> modules =
      options.depth ? cut_to_depth(tree.modules, *options.depth) : tree.modules;
  std::vector<std::string> names;  // what rows of a group have in common
  if (options.group_by == ModuleGrouping::layer) {
    names = layer_patterns(modules);
  } else if (options.group_by == ModuleGrouping::type) {
    for (const ModuleRow& row : modules) names.push_back(row.type);
  }
  const bool by_device = tree.total.device_time_total_ns > 0;
  std::vector<ModuleGroup> groups;
  std::vector<std::size_t> group_of(modules.size());
  std::unordered_map<std::string_view, std::size_t> numbers;
  // For each row the nearest one around it of the same group, by way of the rows on its path.
  std::vector<std::size_t> way;
  std::vector<std::size_t> open;  // by group: how many rows on the way are of it
  for (std::size_t at = 0; at < modules.size(); ++at) {
    const ModuleRow& row = modules[at];
    std::size_t group = groups.size();
    if (!names.empty()) group = numbers.try_emplace(names[at], groups.size()).first->second;
    group_of[at] = group;
    if (group == groups.size()) {
      ModuleGroup& made = groups.emplace_back();
      open.push_back(0);
      made.sum.depth = row.depth;
      made.sum.type = row.type;
      if (options.group_by == ModuleGrouping::module) made.sum.path = row.path;
      if (options.group_by == ModuleGrouping::layer) made.sum.path = names[at];
      if (row.parent && options.group_by != ModuleGrouping::type) {
        made.sum.parent = group_of[*row.parent];
      }
      made.least_ns = INT64_MAX;
      made.most_ns = INT64_MIN;
    }
    while (way.size() > row.depth) {
      --open[group_of[way.back()]];
      way.pop_back();
    }
    ModuleGroup& of = groups[group];
    ++of.modules;
    add_own(of.sum, row);
    add_known(of.sum.calls, row.calls);
    add_known(of.sum.self_parameters, row.self_parameters);
    if (open[group] == 0) {
      add_total(of.sum, row);
      add_known(of.sum.parameters, row.parameters);
    }
    const std::int64_t ns = by_device ? row.device_time_total_ns : row.cpu_time_total_ns;
    of.least_ns = std::min(of.least_ns, ns);
    if (ns > of.most_ns) {
      of.most_ns = ns;
      of.slowest = row.path;
    }
    ++open[group];
    way.push_back(at);
  }
  return groups;
}

}  // namespace tbtrace::analyses
