#include "analyses/compat/plugin/backward.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analyses/compat/plugin/rules.h"

namespace tbtrace::analyses {
namespace {

constexpr std::string_view kBackwardRoot = "autograd::engine::evaluate_function:";
constexpr std::string_view kAccumulateGrad =
    "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad";

}  // namespace

BackwardPasses::BackwardPasses(const Trace& trace, std::vector<PluginNode>& nodes,
                               std::span<const NodeId> roots, std::optional<NodeId> with_steps)
    : trace_(trace), nodes_(nodes), roots_(roots), main_tree_(with_steps) {}

bool BackwardPasses::rehang() {
  const std::map<double, double> arrows = forward_to_backward();
  if (arrows.empty()) return true;
  find_modules_and_passes();
  if (modules_.empty() || passes_.empty()) return true;
  find_main_tree();
  group_passes(take_passes_off());
  const Starts passes = passes_by_forward(arrows);
  if (passes.empty()) return is_valid_;
  std::vector<NodeId> backward_modules;
  backward_modules.reserve(modules_.size());
  for (const NodeId module : modules_) backward_modules.push_back(backward_module(module, passes));
  insert_backward_modules(std::move(backward_modules));
  return is_valid_;
}

bool BackwardPasses::is_pass(NodeId node) const {
  return trace_.name(nodes_[node].event).starts_with(kBackwardRoot);
}

/// By start. Of flow events that start at the same time, the last one in the file counts.
std::map<double, double> BackwardPasses::forward_to_backward() const {
  std::vector<std::int64_t> ids;  // by first start in the file
  std::map<std::int64_t, double> starts;
  std::map<std::int64_t, double> ends;
  for (const FlowEnd& end : trace_.flows()) {
    if (end.type != FlowEnd::Type::forward_backward) continue;
    if (end.start && !starts.contains(end.id)) ids.push_back(end.id);
    (end.start ? starts : ends)[end.id] = plugin_time(end.time_ns);
  }
  std::map<double, double> pairs;
  for (const std::int64_t id : ids) {
    const auto backward = ends.find(id);
    if (backward != ends.end()) pairs[starts.at(id)] = backward->second;
  }
  return pairs;
}

/// Without steps: the longest tree, but not the first one that has passes.
void BackwardPasses::find_main_tree() {
  if (main_tree_) return;
  const auto has_pass = [&](NodeId root) {
    const std::vector<NodeId>& children = nodes_[root].children;
    return std::any_of(children.begin(), children.end(),
                       [&](NodeId child) { return is_pass(child); });
  };
  const auto backward = std::find_if(roots_.begin(), roots_.end(), has_pass);
  double longest = -1;
  for (auto root = roots_.begin(); root != roots_.end(); ++root) {
    const PluginNode& node = nodes_[*root];
    const bool candidate = roots_.size() == 1 || root != backward;
    if (candidate && node.end - node.start > longest) {
      longest = node.end - node.start;
      main_tree_ = *root;
    }
  }
}

/// Finds those at the top level of threads and in steps.
void BackwardPasses::find_modules_and_passes() {
  for (const NodeId root : roots_) {
    std::vector<std::pair<NodeId, NodeId>> pending;  // parent, node
    const auto push_children = [&](NodeId parent) {
      const std::vector<NodeId>& children = nodes_[parent].children;
      for (std::size_t child = children.size(); child-- > 0;) {
        pending.emplace_back(parent, children[child]);
      }
    };
    push_children(root);
    while (!pending.empty()) {
      const auto [parent, id] = pending.back();
      pending.pop_back();
      if (nodes_[id].node_class == PluginClass::module) {
        modules_.push_back(id);
      } else if (nodes_[id].node_class == PluginClass::step) {
        push_children(id);
      } else if (is_pass(id)) {
        passes_.emplace_back(parent, id);
      }
    }
  }
}

/// The plugin lists passes by parent, in the order in which the parents were found.
std::vector<BackwardPasses::NodeId> BackwardPasses::take_passes_off() {
  std::vector<NodeId> parents;
  std::unordered_map<NodeId, std::vector<NodeId>> of_parent;
  std::vector<bool> taken(nodes_.size(), false);
  for (const auto& [parent, id] : passes_) {
    std::vector<NodeId>& siblings = of_parent[parent];
    if (siblings.empty()) parents.push_back(parent);
    siblings.push_back(id);
    taken[id] = true;
  }
  std::vector<NodeId> roots;
  for (const NodeId parent : parents) {
    const std::vector<NodeId>& siblings = of_parent[parent];
    roots.insert(roots.end(), siblings.begin(), siblings.end());
    std::erase_if(nodes_[parent].children, [&](NodeId child) { return taken[child]; });
  }
  return roots;
}

/// A pass and the following ones that only accumulate gradients form a group.
void BackwardPasses::group_passes(std::span<const NodeId> roots) {
  NodeId group = roots.front();
  is_valid_ = trace_.name(nodes_[group].event) != kAccumulateGrad;
  for (const NodeId root : roots) {
    std::vector<NodeId> pending = {root};
    while (!pending.empty()) {
      const NodeId id = pending.back();
      pending.pop_back();
      const std::vector<NodeId>& children = nodes_[id].children;
      for (const NodeId child : children) {
        above_.try_emplace(nodes_[child].start, Above{id, std::nullopt, false});
      }
      pending.insert(pending.end(), children.rbegin(), children.rend());
    }
    if (trace_.name(nodes_[root].event) != kAccumulateGrad) group = root;
    groups_[group].push_back(root);
  }
}

/// Goes up from start to start. Among nodes that start together the outermost was found first, so
/// every step goes back in time. The result is stored in all nodes on the way.
std::optional<BackwardPasses::NodeId> BackwardPasses::pass_above(double start) {
  std::vector<Above*> passed;
  std::optional<NodeId> pass;
  for (auto up = above_.find(start); up != above_.end();
       up = above_.find(nodes_[up->second.node].start)) {
    Above& above = up->second;
    if (!above.is_settled && is_pass(above.node)) above = {above.node, above.node, true};
    if (above.is_settled) {
      pass = above.pass;
      break;
    }
    passed.push_back(&above);
  }
  for (Above* above : passed) *above = {above->node, pass, true};
  return pass;
}

/// By start of the forward operator. The first flow event that leads to a group gets it.
BackwardPasses::Starts BackwardPasses::passes_by_forward(const std::map<double, double>& arrows) {
  Starts passes;
  for (const auto& [forward, backward] : arrows) {
    const std::optional<NodeId> pass = pass_above(backward);
    const auto found = pass ? groups_.find(*pass) : groups_.end();
    if (found == groups_.end()) {
      is_valid_ = is_valid_ && !pass;
      continue;
    }
    passes[forward] = std::move(found->second);
    groups_.erase(found);
  }
  return passes;
}

BackwardPasses::NodeId BackwardPasses::add_backward_of(NodeId forward) {
  nodes_.push_back({.node_class = PluginClass::backward,
                    .start = nodes_[forward].start,
                    .end = nodes_[forward].end});
  return nodes_.size() - 1;
}

/// `<module>.backward`: the passes of the operators directly or indirectly in the module, and those
/// of its submodules. Not recursive, because modules can be nested to any depth.
BackwardPasses::NodeId BackwardPasses::backward_module(NodeId module, const Starts& passes) {
  std::vector<std::pair<NodeId, NodeId>> pairs;  // a module and its backward; outer before inner
  const auto add = [&](NodeId forward) {
    pairs.emplace_back(forward, add_backward_of(forward));
    return pairs.back().second;
  };
  const NodeId own = add(module);
  // NOLINTNEXTLINE(modernize-loop-convert): the list grows in the loop
  for (std::size_t next = 0; next < pairs.size(); ++next) {
    const auto [forward, backward] = pairs[next];
    std::vector<NodeId> children;
    std::vector<NodeId> pending(nodes_[forward].children.rbegin(), nodes_[forward].children.rend());
    while (!pending.empty()) {
      const NodeId id = pending.back();
      pending.pop_back();
      if (nodes_[id].node_class == PluginClass::module) {
        children.push_back(add(id));
        continue;
      }
      if (nodes_[id].node_class == PluginClass::op) {
        const auto pass = passes.find(nodes_[id].start);
        if (pass != passes.end()) {
          children.insert(children.end(), pass->second.begin(), pass->second.end());
        }
      }
      pending.insert(pending.end(), nodes_[id].children.rbegin(), nodes_[id].children.rend());
    }
    nodes_[backward].children = std::move(children);
  }
  for (std::size_t left = pairs.size(); left > 0; --left) {
    PluginNode& backward = nodes_[pairs[left - 1].second];
    std::vector<NodeId>& children = backward.children;
    if (children.empty()) continue;
    std::stable_sort(children.begin(), children.end(),
                     [&](NodeId a, NodeId b) { return starts_before(nodes_[a], nodes_[b]); });
    backward.start = nodes_[children.front()].start;
    backward.end = nodes_[children.back()].end;
  }
  return own;
}

/// Inserts them into the main tree, below the range that contains them; the plugin drops those
/// before or after the whole tree.
void BackwardPasses::insert_backward_modules(std::vector<NodeId> modules) {
  if (!main_tree_) return;
  std::stable_sort(modules.begin(), modules.end(),
                   [&](NodeId a, NodeId b) { return starts_before(nodes_[a], nodes_[b]); });
  struct TreePlace {
    NodeId node;
    std::size_t child;
  };
  using Insertions = std::vector<std::pair<std::size_t, NodeId>>;  // before which child, module
  std::unordered_map<NodeId, Insertions> inserted;
  std::vector<TreePlace> above;
  std::optional<TreePlace> here = TreePlace{*main_tree_, 0};
  for (std::size_t next = 0; next < modules.size() && here;) {
    const PluginNode& module = nodes_[modules[next]];
    if (module.end < nodes_[here->node].start) {
      ++next;
      continue;
    }
    if (module.start > nodes_[here->node].end) {
      here.reset();
      if (!above.empty()) {
        here = TreePlace{above.back().node, above.back().child + 1};
        above.pop_back();
      }
      continue;
    }
    while (here->child < nodes_[here->node].children.size()) {
      const NodeId child = nodes_[here->node].children[here->child];
      if (module.end < nodes_[child].start) break;
      if (module.start >= nodes_[child].end) {
        ++here->child;
        continue;
      }
      above.push_back(*here);
      here = TreePlace{child, 0};
    }
    inserted[here->node].emplace_back(here->child, modules[next]);
    ++next;
  }
  for (const auto& [node, modules_of_node] : inserted) {
    std::vector<NodeId>& children = nodes_[node].children;
    std::vector<NodeId> joined;
    joined.reserve(children.size() + modules_of_node.size());
    std::size_t child = 0;
    for (const auto& [before, module] : modules_of_node) {
      while (child < before) joined.push_back(children[child++]);
      joined.push_back(module);
    }
    joined.insert(joined.end(), children.begin() + static_cast<std::ptrdiff_t>(child),
                  children.end());
    children = std::move(joined);
  }
}

}  // namespace tbtrace::analyses
