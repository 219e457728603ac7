// Backward passes under their modules, step by step as the plugin goes, whatever it takes: every
// list is searched from its start, every walk is walked again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/compat/plugin/nodes.h"
#include "analyses/compat/plugin/rules.h"

namespace tbtrace::analyses {

class BackwardBySteps {
 public:
  BackwardBySteps(const Trace& trace, std::vector<PluginNode> nodes,
                  std::vector<PluginNodeId> roots, std::optional<PluginNodeId> with_steps)
      : trace_(trace), nodes_(std::move(nodes)), roots_(std::move(roots)), main_(with_steps) {
    if (!arrows().empty()) rehang();
  }

  const std::vector<PluginNode>& nodes() const { return nodes_; }

  int rehung() const { return rehung_; }

 private:
  using NodeId = PluginNodeId;
  static constexpr std::string_view kRoot = "autograd::engine::evaluate_function:";

  std::string_view name(NodeId node) const { return trace_.name(nodes_[node].event); }

  std::map<double, double> arrows() const {
    std::vector<std::pair<std::int64_t, double>> starts;
    std::map<std::int64_t, double> ends;
    for (const FlowEnd& end : trace_.flows()) {
      if (end.type != FlowEnd::Type::forward_backward) continue;
      const double time = plugin_time(end.time_ns);
      const auto same = std::find_if(starts.begin(), starts.end(),
                                     [&](const auto& start) { return start.first == end.id; });
      if (!end.start) {
        ends[end.id] = time;
      } else if (same != starts.end()) {
        same->second = time;
      } else {
        starts.emplace_back(end.id, time);
      }
    }
    std::map<double, double> pairs;
    for (const auto& [id, forward] : starts) {
      if (ends.contains(id)) pairs[forward] = ends[id];
    }
    return pairs;
  }

  void find_main() {
    if (main_ || roots_.empty()) return;
    std::optional<NodeId> backward;
    for (const NodeId root : roots_) {
      for (const NodeId child : nodes_[root].children) {
        if (!backward && name(child).starts_with(kRoot)) backward = root;
      }
    }
    double longest = -1;
    for (const NodeId root : roots_) {
      const bool candidate = roots_.size() == 1 || root != backward;
      const double length = nodes_[root].end - nodes_[root].start;
      if (!candidate || length <= longest) continue;
      longest = length;
      main_ = root;
    }
  }

  void look_for_modules(NodeId parent) {
    for (const NodeId child : nodes_[parent].children) {
      if (nodes_[child].node_class == PluginClass::module) {
        modules_.push_back(child);
      } else if (nodes_[child].node_class == PluginClass::step) {
        look_for_modules(child);
      } else if (name(child).starts_with(kRoot)) {
        passes_.emplace_back(parent, child);
      }
    }
  }

  void note_above(NodeId node) {
    for (const NodeId child : nodes_[node].children) {
      above_.try_emplace(nodes_[child].start, node);
    }
    for (const NodeId child : nodes_[node].children) note_above(child);
  }

  void rehang() {
    find_main();
    for (const NodeId root : roots_) look_for_modules(root);
    if (modules_.empty() || passes_.empty()) return;
    std::vector<NodeId> roots;
    std::vector<NodeId> parents;
    for (const auto& [parent, id] : passes_) {
      if (std::find(parents.begin(), parents.end(), parent) == parents.end()) {
        parents.push_back(parent);
      }
    }
    for (const NodeId parent : parents) {
      for (const auto& [of, id] : passes_) {
        if (of == parent) roots.push_back(id);
      }
      std::erase_if(nodes_[parent].children, [&, of = parent](NodeId child) {
        return std::find(passes_.begin(), passes_.end(), std::pair(of, child)) != passes_.end();
      });
    }
    std::map<NodeId, std::vector<NodeId>> groups;
    NodeId group = roots.front();
    for (const NodeId root : roots) {
      note_above(root);
      const bool adds_up =
          name(root) == "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad";
      if (!adds_up) group = root;
      groups[group].push_back(root);
    }
    std::map<double, std::vector<NodeId>> pass_of;
    for (const auto& [forward, backward] : arrows()) {
      auto up = above_.find(backward);
      while (up != above_.end() && !name(up->second).starts_with(kRoot)) {
        up = above_.find(nodes_[up->second].start);
      }
      if (up == above_.end() || !groups.contains(up->second)) continue;
      pass_of[forward] = groups[up->second];
      groups.erase(up->second);
    }
    if (pass_of.empty()) return;
    std::vector<NodeId> backward_modules;
    for (const NodeId module : modules_) backward_modules.push_back(backward_of(module, pass_of));
    insert(std::move(backward_modules));
    rehung_ = static_cast<int>(pass_of.size());
  }

  void sort(std::vector<NodeId>& nodes) const {
    std::stable_sort(nodes.begin(), nodes.end(), [&](NodeId a, NodeId b) {
      return std::pair(nodes_[a].start, -nodes_[a].end) <
             std::pair(nodes_[b].start, -nodes_[b].end);
    });
  }

  NodeId backward_of(NodeId module, const std::map<double, std::vector<NodeId>>& passes) {
    std::vector<std::pair<NodeId, NodeId>> pairs;
    const auto add = [&](NodeId forward) {
      pairs.emplace_back(forward, nodes_.size());
      nodes_.push_back({.node_class = PluginClass::backward,
                        .start = nodes_[forward].start,
                        .end = nodes_[forward].end});
      return pairs.back().second;
    };
    add(module);
    for (std::size_t next = 0; next < pairs.size(); ++next) {
      std::vector<NodeId> pending(nodes_[pairs[next].first].children);
      std::vector<NodeId> children;
      while (!pending.empty()) {
        const NodeId id = pending.front();
        pending.erase(pending.begin());
        if (nodes_[id].node_class == PluginClass::module) {
          children.push_back(add(id));
          continue;
        }
        if (nodes_[id].node_class == PluginClass::op && passes.contains(nodes_[id].start)) {
          const std::vector<NodeId>& found = passes.at(nodes_[id].start);
          children.insert(children.end(), found.begin(), found.end());
        }
        pending.insert(pending.begin(), nodes_[id].children.begin(), nodes_[id].children.end());
      }
      nodes_[pairs[next].second].children = children;
    }
    for (std::size_t left = pairs.size(); left-- > 0;) {
      std::vector<NodeId>& children = nodes_[pairs[left].second].children;
      if (children.empty()) continue;
      sort(children);
      nodes_[pairs[left].second].start = nodes_[children.front()].start;
      nodes_[pairs[left].second].end = nodes_[children.back()].end;
    }
    return pairs.front().second;
  }

  /// Each goes into the innermost node that it can be in, beginning where the one before went.
  void insert(std::vector<NodeId> modules) {
    if (!main_) return;
    sort(modules);
    std::vector<std::pair<NodeId, std::size_t>> path = {{*main_, 0}};
    for (std::size_t next = 0; next < modules.size() && !path.empty();) {
      const NodeId node = path.back().first;
      const PluginNode& module = nodes_[modules[next]];
      if (module.end < nodes_[node].start) {
        ++next;
        continue;
      }
      if (module.start > nodes_[node].end) {
        path.pop_back();
        if (!path.empty()) ++path.back().second;
        continue;
      }
      descend(path, modules[next]);
      ++next;
    }
  }

  /// It is not asked again whether the module is within the nodes on the way.
  void descend(std::vector<std::pair<NodeId, std::size_t>>& path, NodeId module_id) {
    const PluginNode module = nodes_[module_id];
    for (;;) {
      auto& [node, child] = path.back();
      std::vector<NodeId>& children = nodes_[node].children;
      while (child < children.size() && module.start >= nodes_[children[child]].end &&
             module.end >= nodes_[children[child]].start) {
        ++child;
      }
      if (child == children.size() || module.end < nodes_[children[child]].start) {
        children.insert(children.begin() + static_cast<std::ptrdiff_t>(child), module_id);
        ++child;
        return;
      }
      path.emplace_back(children[child], 0);
    }
  }

  const Trace& trace_;
  std::vector<PluginNode> nodes_;
  std::vector<NodeId> roots_;
  std::optional<NodeId> main_;
  std::vector<NodeId> modules_;
  std::vector<std::pair<NodeId, NodeId>> passes_;
  std::map<double, NodeId> above_;
  int rehung_ = 0;
};

}  // namespace tbtrace::analyses
