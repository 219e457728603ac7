// The plugin's tree of operators, steps and modules, with what they launched.
// Owns its nodes; made from a Trace, which must outlive it. Immutable once made.
// Ranges on a thread whose id is not a number are dropped; the plugin fails to load such a file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/compat/plugin/nodes.h"

namespace tbtrace::analyses {

class PluginTree {
 public:
  using NodeId = PluginNodeId;
  using Class = PluginClass;
  using Node = PluginNode;

  explicit PluginTree(const Trace& trace);

  const Node& node(NodeId id) const { return nodes_[id]; }
  std::span<const Node> nodes() const { return nodes_; }

  /// Roots of the thread trees, in the order of their first ranges.
  std::span<const NodeId> roots() const { return roots_; }
  /// The root of a thread's tree; nullopt for a thread without ranges.
  std::optional<NodeId> root_of(std::int64_t thread) const;
  /// The last root whose tree has a step.
  std::optional<NodeId> root_with_steps() const { return with_steps_; }

  /// Whether the plugin can move the backward passes under their modules. Otherwise it fails to
  /// load the file; this tree is made without the flow events at which it fails.
  bool backward_is_valid() const { return backward_is_valid_; }

  /// Whether the node counts as an operator in the plugin's tables.
  bool is_listed(NodeId id) const;
  /// Rows of the operator table, in the plugin's order.
  std::vector<NodeId> operators() const;

  /// A kernel that the tree reaches; `op` is the node that the plugin names as its operator.
  struct Kernel {
    EventId event = EventId::none;
    NodeId op = 0;
    double us = 0;
  };
  /// In the plugin's order. Kernels without a launch, and those whose launch has the id 0, belong
  /// to roots: a kernel can occur several times.
  std::vector<Kernel> kernels() const;
  /// Those that rows of the operator table launched themselves.
  std::vector<Kernel> kernels_of_operators() const;

 private:
  struct Launch {
    double start = 0;
    double end = 0;
    double device = 0;
    double filled = 0;  // `device`, as often as nodes were filled with it so far
    std::vector<EventId> work = {};
    NodeId op = 0;
  };
  struct Forest {  // by thread id, in the order of their first ranges
    std::vector<std::int64_t> order;
    std::map<std::int64_t, std::vector<NodeId>> ranges;
  };

  void read_events();
  void add_range(EventId event);
  void attach_launches();
  void nest(std::int64_t thread);
  void merge_duplicates(NodeId root);
  void fill(NodeId root);
  void bound(NodeId root);
  void add_launches_of(const Node& node, std::vector<Kernel>& kernels) const;
  std::optional<Class> class_of(EventId event) const;
  std::int64_t thread_of(EventId event, bool& known) const;

  const Trace& trace_;
  std::vector<Node> nodes_;
  std::vector<Launch> launches_;
  std::map<std::optional<std::int64_t>, std::vector<std::size_t>> launches_of_id_;
  Forest forest_;
  bool lightning_ = false;
  bool backward_is_valid_ = true;
  std::map<std::int64_t, std::vector<std::size_t>> launches_of_roots_;  // by thread
  std::vector<EventId> unlaunched_;                                     // kernels
  std::vector<NodeId> roots_;  // of threads, in the order of their first ranges
  std::set<NodeId> roots_with_steps_;
  std::optional<NodeId> with_steps_;
};

}  // namespace tbtrace::analyses
