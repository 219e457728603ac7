#include "analyses/compat/plugin/tree.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analyses/attribution/collective_names.h"
#include "analyses/attribution/lightning.h"
#include "analyses/attribution/operator_kind.h"
#include "analyses/compat/plugin/backward.h"
#include "analyses/compat/plugin/launches.h"
#include "analyses/compat/plugin/rules.h"
#include "trace/step_names.h"

namespace tbtrace::analyses {
namespace {

/// As the plugin computes it from start and end.
double plugin_duration(const Trace& trace, EventId event) {
  const double start = plugin_time(trace.events().start_ns(event));
  const double end = start + plugin_time(trace.events().duration_ns(event));
  return end - start;
}

}  // namespace

PluginTree::PluginTree(const Trace& trace) : trace_(trace) {
  lightning_ = is_lightning(trace);
  read_events();
  attach_launches();
  for (const std::int64_t thread : forest_.order) nest(thread);
  backward_is_valid_ = BackwardPasses(trace_, nodes_, roots_, with_steps_).rehang();
}

/// Collects ranges by thread, and launches with the device time that their correlation yields.
void PluginTree::read_events() {
  const std::vector<EventId> order = plugin_order(trace_);
  const Events& events = trace_.events();
  std::unordered_map<EventId, std::size_t> row_of;  // of a launch
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
    if (id == 0) {
      bool known = false;
      const std::int64_t thread = thread_of(event, known);
      if (known) launches_of_roots_[thread].push_back(launches_.size());
    }
    launches_.push_back({start, start + plugin_time(events.duration_ns(event)), 0});
  }
  for (const auto& [work, launch, op] : plugin_launches(trace_, order)) {
    if (launch == EventId::none) {
      if (trace_.kind(work) == EventKind::kernel) unlaunched_.push_back(work);
      continue;
    }
    Launch& row = launches_[row_of.at(launch)];
    row.device += plugin_duration(trace_, work);
    row.work.push_back(work);
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
  std::stable_sort(ranges.begin(), ranges.end(),
                   [&](NodeId a, NodeId b) { return starts_before(nodes_[a], nodes_[b]); });
  const bool has_step = std::any_of(ranges.begin(), ranges.end(), [&](NodeId id) {
    return is_step_name(trace_.name(nodes_[id].event));
  });
  const NodeId root = nodes_.size();
  if (has_step) {
    with_steps_ = root;
    roots_with_steps_.insert(root);
  }
  nodes_.push_back({.node_class = Class::root,
                    .start = -std::numeric_limits<double>::infinity(),
                    .end = std::numeric_limits<double>::infinity()});
  const auto of_root = launches_of_roots_.find(thread);
  if (of_root != launches_of_roots_.end()) nodes_[root].launches = of_root->second;
  std::vector<NodeId> open = {root};
  for (const NodeId id : ranges) {
    while (nodes_[id].start >= nodes_[open.back()].end) open.pop_back();
    // A range that starts inside another and ends after it is dropped.
    if (nodes_[id].end > nodes_[open.back()].end) continue;
    nodes_[open.back()].children.push_back(id);
    open.push_back(id);
  }
  merge_duplicates(root);
  fill(root);
  bound(root);
  roots_.push_back(root);
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
        continue;  // its next child may have to be merged, too
      }
    }
    pending.pop_back();
    pending.insert(pending.end(), node.children.begin(), node.children.end());
  }
}

void PluginTree::fill(NodeId root) {
  std::vector<NodeId> order = {root};  // parents before children
  for (std::size_t at = 0; at < order.size(); ++at) {
    for (const NodeId child : nodes_[order[at]].children) order.push_back(child);
  }
  for (std::size_t at = order.size(); at-- > 0;) {
    Node& node = nodes_[order[at]];
    node.self_host = node.end - node.start;
    for (const NodeId child : node.children) {
      node.device += nodes_[child].device;
      node.self_host -= nodes_[child].end - nodes_[child].start;
    }
    for (const std::size_t number : node.launches) {
      Launch& launch = launches_[number];
      launch.filled += launch.device;  // more than once if it has the id 0
      node.self_host -= launch.end - launch.start;
      node.device += launch.filled;
      node.self_device += launch.filled;
      launch.op = order[at];  // the last node that has it names the operator
    }
  }
}

void PluginTree::bound(NodeId root) {
  Node& node = nodes_[root];
  if (node.children.empty()) return;
  node.start = nodes_[node.children.front()].start;
  node.end = nodes_[node.children.back()].end;
}

std::optional<PluginTree::NodeId> PluginTree::root_of(std::int64_t thread) const {
  const auto found = std::find(forest_.order.begin(), forest_.order.end(), thread);
  if (found == forest_.order.end()) return std::nullopt;
  return roots_[static_cast<std::size_t>(found - forest_.order.begin())];
}

bool PluginTree::is_listed(NodeId id) const {
  const Node& node = nodes_[id];
  if (node.node_class != Class::op) return false;
  const std::string_view name = trace_.name(node.event);
  return name != "DataParallel.forward" && name != "DistributedDataParallel.forward" &&
         !name.starts_with("Optimizer.");
}

std::vector<PluginTree::NodeId> PluginTree::operators() const {
  std::vector<NodeId> operators;
  for (const NodeId root : roots_) {
    // Children before their parents, as the plugin collects them.
    struct Visit {
      NodeId node;
      std::size_t child;
    };
    std::vector<Visit> path = {{root, 0}};
    while (!path.empty()) {
      Visit& visit = path.back();
      const Node& node = nodes_[visit.node];
      if (visit.child < node.children.size()) {
        path.push_back({node.children[visit.child++], 0});
        continue;
      }
      if (is_listed(visit.node)) operators.push_back(visit.node);
      path.pop_back();
    }
  }
  return operators;
}

void PluginTree::add_launches_of(const Node& node, std::vector<Kernel>& kernels) const {
  for (const std::size_t launch : node.launches) {
    for (const EventId work : launches_[launch].work) {
      if (trace_.kind(work) != EventKind::kernel) continue;
      kernels.push_back({work, launches_[launch].op, plugin_duration(trace_, work)});
    }
  }
}

std::vector<PluginTree::Kernel> PluginTree::kernels_of_operators() const {
  std::vector<Kernel> kernels;
  for (const NodeId op : operators()) add_launches_of(nodes_[op], kernels);
  return kernels;
}

std::vector<PluginTree::Kernel> PluginTree::kernels() const {
  std::vector<Kernel> kernels;
  for (const NodeId root : roots_) {
    if (nodes_[root].children.empty()) continue;  // all its passes were moved elsewhere
    // Parents before children; the plugin's own order only matters for the last bit of sums.
    std::vector<NodeId> pending = {root};
    while (!pending.empty()) {
      const Node& node = nodes_[pending.back()];
      pending.pop_back();
      add_launches_of(node, kernels);
      pending.insert(pending.end(), node.children.begin(), node.children.end());
    }
    if (!roots_with_steps_.contains(root)) continue;
    for (const EventId kernel : unlaunched_) {
      kernels.push_back({kernel, root, plugin_duration(trace_, kernel)});
    }
  }
  return kernels;
}

}  // namespace tbtrace::analyses
