#include "analyses/plugin_tree.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analyses/plugin_launches.h"
#include "analyses/plugin_rules.h"
#include "trace/lightning.h"
#include "trace/step_names.h"

namespace tbtrace::analyses {
namespace {

constexpr std::string_view kBackwardRoot = "autograd::engine::evaluate_function:";
constexpr std::string_view kAccumulateGrad =
    "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad";

}  // namespace

PluginTree::PluginTree(const Trace& trace) : trace_(trace) {
  lightning_ = is_lightning(trace);
  read_events();
  attach_launches();
  for (const std::int64_t thread : forest_.order) nest(thread);
  if (!forward_to_backward().empty()) rehang_backward_passes();
}

/// Ranges by thread, launches with the device time that their correlation brings them.
void PluginTree::read_events() {
  const std::vector<EventId> order = plugin_order(trace_);
  const Events& events = trace_.events();
  std::unordered_map<EventId, std::size_t> row_of;  // of launches
  for (const EventId event : order) {
    if (is_plugin_work(trace_.category(event))) continue;
    if (!is_plugin_launch(trace_, event)) {
      add_range(event);
      continue;
    }
    std::optional<std::int64_t> id;
    if (trace_.external_id(event) != 0 || events.has_zero_external_id(event)) {
      id = trace_.external_id(event);
    }
    row_of[event] = launches_.size();
    launches_of_id_[id].push_back(launches_.size());
    const double start = plugin_time(events.start_ns(event));
    launches_.push_back({start, start + plugin_time(events.duration_ns(event)), 0});
  }
  for (const auto& [work, launch] : plugin_launches(trace_, order)) {
    if (launch == EventId::none) continue;
    const double start = plugin_time(events.start_ns(work));
    const double end = start + plugin_time(events.duration_ns(work));
    launches_[row_of.at(launch)].device += end - start;
  }
}

std::optional<PluginTree::Class> PluginTree::class_of(EventId event) const {
  const std::string_view name = trace_.name(event);
  const EventKind kind = trace_.kind(event);
  const bool op = kind == EventKind::cpu_op;
  if (op || kind == EventKind::user_annotation || kind == EventKind::gpu_user_annotation) {
    if (is_step_name(name)) return Class::step;
    if (is_data_loading(name) || name.starts_with("Optimizer.step")) return Class::other_range;
    if (op && lightning_ && name.starts_with(kLightningProfile)) return std::nullopt;
    if (op && lightning_ && name.starts_with(kLightningModule)) return Class::other_range;
    if (op) return Class::op;
    return is_plugin_collective(name) ? std::optional(Class::other_range) : std::nullopt;
  }
  if (kind != EventKind::python_function) return std::nullopt;
  const std::string_view category = trace_.string(trace_.category(event).name);
  if (category != "python_function") return Class::other_range;
  if (trace_.events().is_module(event) && !lightning_) return Class::module;
  return std::nullopt;
}

std::int64_t PluginTree::thread_of(EventId event, bool& known) const {
  const TrackKey& thread = trace_.track(trace_.events().track(event)).thread;
  known = thread.text == StringId::empty;
  return thread.number;
}

void PluginTree::add_range(EventId event) {
  const std::optional<Class> node_class = class_of(event);
  bool known = false;
  const std::int64_t thread = thread_of(event, known);
  if (!node_class || !known) return;
  Node node;
  node.event = event;
  node.node_class = *node_class;
  const bool lightning_range = lightning_ && trace_.name(event).starts_with(kLightningPrefix);
  node.is_operator_event =
      trace_.kind(event) == EventKind::cpu_op && *node_class != Class::step && !lightning_range;
  node.start = plugin_time(trace_.events().start_ns(event));
  node.end = node.start + plugin_time(trace_.events().duration_ns(event));
  std::vector<NodeId>& ranges = forest_.ranges[thread];
  if (ranges.empty()) forest_.order.push_back(thread);
  ranges.push_back(nodes_.size());
  nodes_.push_back(std::move(node));
}

/// Thread by thread, the first range with an id takes all launches of that id.
void PluginTree::attach_launches() {
  for (const std::int64_t thread : forest_.order) {
    for (const NodeId id : forest_.ranges[thread]) {
      Node& node = nodes_[id];
      std::optional<std::int64_t> external_id;
      const bool given =
          trace_.external_id(node.event) != 0 || trace_.events().has_zero_external_id(node.event);
      if (given && node.node_class != Class::module) external_id = trace_.external_id(node.event);
      const auto launches = launches_of_id_.find(external_id);
      if (launches == launches_of_id_.end()) continue;
      node.launches = std::move(launches->second);
      launches_of_id_.erase(launches);
    }
  }
}

void PluginTree::nest(std::int64_t thread) {
  std::vector<NodeId>& ranges = forest_.ranges[thread];
  std::stable_sort(ranges.begin(), ranges.end(), [&](NodeId a, NodeId b) {
    return std::pair(nodes_[a].start, -nodes_[a].end) < std::pair(nodes_[b].start, -nodes_[b].end);
  });
  const bool has_step = std::any_of(ranges.begin(), ranges.end(), [&](NodeId id) {
    return is_step_name(trace_.name(nodes_[id].event));
  });
  if (has_step) main_thread_ = thread;
  const NodeId root = nodes_.size();
  nodes_.push_back({.node_class = Class::root,
                    .start = -std::numeric_limits<double>::infinity(),
                    .end = std::numeric_limits<double>::infinity()});
  std::vector<NodeId> open = {root};
  for (const NodeId id : ranges) {
    while (nodes_[id].start >= nodes_[open.back()].end) open.pop_back();
    // A range that crosses the end of the one that it starts in is dropped.
    if (nodes_[id].end > nodes_[open.back()].end) continue;
    nodes_[open.back()].children.push_back(id);
    open.push_back(id);
  }
  merge_duplicates(root);
  fill(root);
  bound(root);
  forest_.roots[thread] = root;
}

void PluginTree::merge_duplicates(NodeId root) {
  std::vector<NodeId> pending = {root};
  while (!pending.empty()) {
    Node& node = nodes_[pending.back()];
    if (node.children.size() == 1 && node.is_operator_event) {
      Node& child = nodes_[node.children[0]];
      if (child.is_operator_event && trace_.name(node.event) == trace_.name(child.event)) {
        std::vector<NodeId> grandchildren = std::move(child.children);
        node.children = std::move(grandchildren);
        node.launches = child.launches;
        continue;  // it may have to take in the next one too
      }
    }
    pending.pop_back();
    pending.insert(pending.end(), node.children.begin(), node.children.end());
  }
}

void PluginTree::fill(NodeId root) {
  std::vector<NodeId> order = {root};  // parents before children
  for (std::size_t at = 0; at < order.size(); ++at) {
    const std::vector<NodeId>& children = nodes_[order[at]].children;
    order.insert(order.end(), children.begin(), children.end());
  }
  for (std::size_t at = order.size(); at-- > 0;) {
    Node& node = nodes_[order[at]];
    node.self_host = node.end - node.start;
    for (const NodeId child : node.children) {
      node.device += nodes_[child].device;
      node.self_host -= nodes_[child].end - nodes_[child].start;
    }
    for (const std::size_t launch : node.launches) {
      node.self_host -= launches_[launch].end - launches_[launch].start;
      node.device += launches_[launch].device;
      node.self_device += launches_[launch].device;
    }
  }
}

void PluginTree::bound(NodeId root) {
  Node& node = nodes_[root];
  if (node.children.empty()) return;
  node.start = nodes_[node.children.front()].start;
  node.end = nodes_[node.children.back()].end;
}

std::map<double, double> PluginTree::forward_to_backward() const {
  std::map<std::int64_t, double> starts;
  std::map<std::int64_t, double> ends;
  for (const FlowEnd& end : trace_.flows()) {
    if (end.type != FlowEnd::Type::forward_backward) continue;
    (end.start ? starts : ends)[end.id] = plugin_time(end.time_ns);
  }
  std::map<double, double> pairs;
  for (const auto& [id, forward] : starts) {
    const auto backward = ends.find(id);
    if (backward != ends.end()) pairs[forward] = backward->second;
  }
  return pairs;
}

void PluginTree::find_main_thread() {
  if (main_thread_ || forest_.roots.empty()) return;
  std::optional<std::int64_t> backward;
  for (const std::int64_t thread : forest_.order) {
    for (const NodeId child : nodes_[forest_.roots[thread]].children) {
      if (trace_.name(nodes_[child].event).starts_with(kBackwardRoot)) backward = thread;
      if (backward) break;
    }
    if (backward) break;
  }
  double longest = -1;
  for (const std::int64_t thread : forest_.order) {
    const Node& root = nodes_[forest_.roots[thread]];
    const bool candidate = forest_.order.size() == 1 || thread != backward;
    if (candidate && root.end - root.start > longest) {
      longest = root.end - root.start;
      main_thread_ = thread;
    }
  }
}

/// Where there are modules and arrows, backward passes leave the tree, and those that an arrow ties
/// to an operator of a module come back under `<module>.backward`.
void PluginTree::rehang_backward_passes() {
  find_main_thread();
  std::vector<NodeId> modules;
  std::vector<std::pair<NodeId, NodeId>> passes;  // parent, root of the pass
  for (const std::int64_t thread : forest_.order) {
    std::vector<std::pair<NodeId, NodeId>> pending;
    const auto push_children = [&](NodeId parent) {
      const std::vector<NodeId>& children = nodes_[parent].children;
      for (std::size_t child = children.size(); child-- > 0;)
        pending.push_back({parent, children[child]});
    };
    push_children(forest_.roots[thread]);
    while (!pending.empty()) {
      const auto [parent, id] = pending.back();
      pending.pop_back();
      if (nodes_[id].node_class == Class::module) {
        modules.push_back(id);
      } else if (nodes_[id].node_class == Class::step) {
        push_children(id);
      } else if (trace_.name(nodes_[id].event).starts_with(kBackwardRoot)) {
        passes.push_back({parent, id});
      }
    }
  }
  if (modules.empty() || passes.empty()) return;
  // The plugin lists them by parent, in the order in which the parents were met.
  std::vector<NodeId> roots;
  std::vector<NodeId> parents;
  for (const auto& [parent, id] : passes) {
    if (std::find(parents.begin(), parents.end(), parent) == parents.end())
      parents.push_back(parent);
  }
  for (const NodeId parent : parents) {
    for (const auto& [of, id] : passes) {
      if (of == parent) roots.push_back(id);
    }
    std::erase_if(nodes_[parent].children, [&](NodeId child) {
      return std::find(passes.begin(), passes.end(), std::pair(parent, child)) != passes.end();
    });
  }
  // By start: which node is above the node that starts then.
  std::map<double, NodeId> above;
  std::map<NodeId, std::vector<NodeId>> groups;
  NodeId group = roots.front();
  for (const NodeId root : roots) {
    std::vector<NodeId> pending = {root};
    while (!pending.empty()) {
      const NodeId id = pending.back();
      pending.pop_back();
      const std::vector<NodeId>& children = nodes_[id].children;
      for (const NodeId child : children) above.try_emplace(nodes_[child].start, id);
      pending.insert(pending.end(), children.rbegin(), children.rend());
    }
    if (trace_.name(nodes_[root].event) != kAccumulateGrad) group = root;
    groups[group].push_back(root);
  }
  std::map<double, std::vector<NodeId>> pass_of;  // forward operator's start -> roots
  for (const auto& [forward, backward] : forward_to_backward()) {
    auto up = above.find(backward);
    while (up != above.end() && !trace_.name(nodes_[up->second].event).starts_with(kBackwardRoot)) {
      up = above.find(nodes_[up->second].start);
    }
    if (up == above.end()) continue;
    const auto found = groups.find(up->second);
    if (found == groups.end()) continue;
    pass_of[forward] = std::move(found->second);
    groups.erase(found);
  }
  if (pass_of.empty()) return;
  std::vector<NodeId> backward_modules;
  backward_modules.reserve(modules.size());
  for (const NodeId module : modules) backward_modules.push_back(backward_module(module, pass_of));
  insert_backward_modules(std::move(backward_modules));
}

/// `<module>.backward`: the passes of the operators directly or indirectly in the module, and those
/// of the modules in it. Modules may be nested as deep as a file likes, so nothing here recurses.
PluginTree::NodeId PluginTree::backward_module(
    NodeId module, const std::map<double, std::vector<NodeId>>& passes) {
  std::vector<std::pair<NodeId, NodeId>> pairs;  // a module and its backward; outer before inner
  const auto add = [&](NodeId forward) {
    pairs.emplace_back(forward, nodes_.size());
    nodes_.push_back({.node_class = Class::backward,
                      .start = nodes_[forward].start,
                      .end = nodes_[forward].end});
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
      if (nodes_[id].node_class == Class::module) {
        children.push_back(add(id));
        continue;
      }
      if (nodes_[id].node_class == Class::op) {
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
    Node& backward = nodes_[pairs[left - 1].second];
    std::vector<NodeId>& children = backward.children;
    if (children.empty()) continue;
    std::stable_sort(children.begin(), children.end(), [&](NodeId a, NodeId b) {
      return std::pair(nodes_[a].start, -nodes_[a].end) <
             std::pair(nodes_[b].start, -nodes_[b].end);
    });
    backward.start = nodes_[children.front()].start;
    backward.end = nodes_[children.back()].end;
  }
  return own;
}

/// Into the main thread's tree, below the range that holds them; the plugin forgets those that lie
/// before or after all of it.
void PluginTree::insert_backward_modules(std::vector<NodeId> modules) {
  if (!main_thread_) return;
  std::stable_sort(modules.begin(), modules.end(), [&](NodeId a, NodeId b) {
    return std::pair(nodes_[a].start, -nodes_[a].end) < std::pair(nodes_[b].start, -nodes_[b].end);
  });
  struct Place {
    NodeId node;
    std::size_t child;
  };
  std::vector<Place> above;
  std::optional<Place> here = Place{forest_.roots[*main_thread_], 0};
  for (std::size_t next = 0; next < modules.size() && here;) {
    const Node& module = nodes_[modules[next]];
    if (module.end < nodes_[here->node].start) {
      ++next;
      continue;
    }
    if (module.start > nodes_[here->node].end) {
      here.reset();
      if (!above.empty()) {
        here = Place{above.back().node, above.back().child + 1};
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
      here = Place{child, 0};
    }
    std::vector<NodeId>& children = nodes_[here->node].children;
    children.insert(children.begin() + static_cast<std::ptrdiff_t>(here->child), modules[next]);
    ++here->child;
    ++next;
  }
}

std::vector<PluginTree::NodeId> PluginTree::operators() const {
  std::vector<NodeId> operators;
  for (const std::int64_t thread : forest_.order) {
    // Children before their parents, as the plugin collects them.
    struct Visit {
      NodeId node;
      std::size_t child;
    };
    std::vector<Visit> path = {{forest_.roots.at(thread), 0}};
    while (!path.empty()) {
      Visit& visit = path.back();
      const Node& node = nodes_[visit.node];
      if (visit.child < node.children.size()) {
        path.push_back({node.children[visit.child++], 0});
        continue;
      }
      if (node.node_class == Class::op) {
        const std::string_view name = trace_.name(node.event);
        const bool listed = name != "DataParallel.forward" &&
                            name != "DistributedDataParallel.forward" &&
                            !name.starts_with("Optimizer.");
        if (listed) operators.push_back(visit.node);
      }
      path.pop_back();
    }
  }
  return operators;
}

}  // namespace tbtrace::analyses
