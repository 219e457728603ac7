#include "analyses/compat/plugin/modules.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "analyses/compat/plugin/hierarchy.h"
#include "analyses/compat/plugin/tree.h"

namespace tbtrace::analyses {
namespace {

struct ModuleSums {
  std::uint64_t calls = 0;
  std::uint64_t operators = 0;
  double host = 0;
  double self_host = 0;
  double device = 0;
  double self_device = 0;
};

using SumsByModule = std::map<PluginModuleKey, ModuleSums>;

void add_call(const PluginTree& tree, const PluginNode& node, ModuleSums& sums) {
  double of_operators = 0;
  for (const PluginNodeId child : node.children) {
    if (!tree.is_listed(child)) continue;
    ++sums.operators;
    of_operators += tree.node(child).device;
  }
  ++sums.calls;
  sums.host += node.end - node.start;
  sums.self_host += node.self_host;
  sums.device += node.device;
  sums.self_device += node.self_device + of_operators;
}

/// Parents before children, thread by thread. Modules that backward passes called do not count.
SumsByModule sum_up(const PluginTree& tree, PluginModuleNames& names) {
  SumsByModule sums;
  std::vector<PluginNodeId> pending(tree.roots().rbegin(), tree.roots().rend());
  while (!pending.empty()) {
    const PluginNode& node = tree.node(pending.back());
    pending.pop_back();
    if (node.node_class == PluginClass::backward) continue;
    if (node.event != EventId::none && names.is_module(node.event)) {
      add_call(tree, node, sums[names.key(node.event)]);
    }
    pending.insert(pending.end(), node.children.rbegin(), node.children.rend());
  }
  return sums;
}

PluginModule row_of(std::string name, std::int64_t id, const ModuleSums& sums) {
  PluginModule row;
  row.name = std::move(name);
  row.id = id;
  row.occurrences = sums.calls;
  row.operators = sums.operators;
  row.host_duration_us = sums.host;
  row.self_host_duration_us = sums.self_host;
  row.device_duration_us = sums.device;
  row.self_device_duration_us = sums.self_device;
  const auto calls = static_cast<double>(sums.calls);
  const double on_device = sums.device / calls;
  row.avg_duration_us = on_device > 0 ? on_device : sums.host / calls;
  return row;
}

/// Outermost modules by name; those with equal names in the hierarchy's order.
std::vector<std::size_t> roots_by_name(const PluginHierarchy& hierarchy,
                                       const PluginModuleNames& names) {
  std::vector<std::pair<std::string, std::size_t>> named;
  for (const std::size_t root : hierarchy.roots) {
    named.emplace_back(names.shown(hierarchy.modules[root].key.name), root);
  }
  std::stable_sort(named.begin(), named.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::size_t> roots;
  roots.reserve(named.size());
  for (const auto& [name, root] : named) roots.push_back(root);
  return roots;
}

}  // namespace

std::vector<PluginModule> plugin_modules(const Trace& trace) {
  PluginModuleNames names(trace);
  const std::optional<PluginHierarchy> hierarchy = plugin_hierarchy(trace, names);
  if (!hierarchy || hierarchy->roots.empty()) return {};
  const PluginTree tree(trace);
  if (!tree.backward_is_valid()) return {};
  const SumsByModule sums = sum_up(tree, names);

  struct Place {
    std::size_t module;
    std::optional<std::size_t> parent;
  };
  std::vector<Place> pending;  // the next one last
  const auto add = [&](std::span<const std::size_t> modules, std::optional<std::size_t> parent) {
    for (std::size_t left = modules.size(); left-- > 0;) pending.push_back({modules[left], parent});
  };
  add(roots_by_name(*hierarchy, names), std::nullopt);
  std::vector<PluginModule> rows;
  while (!pending.empty()) {
    const Place place = pending.back();
    pending.pop_back();
    const PluginHierarchy::Module& module = hierarchy->modules[place.module];
    const auto of_module = sums.find(module.key);
    if (of_module == sums.end()) return {};
    PluginModule row = row_of(names.shown(module.key.name), module.key.id, of_module->second);
    row.depth = place.parent ? rows[*place.parent].depth + 1 : 0;
    row.parent = place.parent;
    rows.push_back(std::move(row));
    add(module.children, rows.size() - 1);
  }
  return rows;
}

}  // namespace tbtrace::analyses
