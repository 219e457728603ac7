// Moves backward passes under the modules of their forward passes, as torch-tb-profiler does.
// Changes a forest in place. One thread.
// Source: kineto tb_plugin, profiler/op_tree.py at 94979607^.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/compat/plugin/nodes.h"

namespace tbtrace::analyses {

class BackwardPasses {
 public:
  /// `roots`: of the thread trees, in the order of their first ranges. `with_steps`: the root of
  /// the tree that has steps, if any.
  BackwardPasses(const Trace& trace, std::vector<PluginNode>& nodes,
                 std::span<const PluginNodeId> roots, std::optional<PluginNodeId> with_steps);

  /// Takes the passes off their threads and puts those that a flow event connects to a forward
  /// operator under `<module>.backward`, in the main thread's tree. Does nothing if there are no
  /// flow events, no modules or no passes. False if the plugin fails here: the first pass
  /// accumulates gradients, or a flow event leads to a pass that another one led to or that only
  /// accumulates gradients.
  bool rehang();

 private:
  using NodeId = PluginNodeId;
  using Starts = std::map<double, std::vector<NodeId>>;

  /// The node above the first node that starts at a time, and the root of the pass found from
  /// there.
  struct Above {
    NodeId node;
    std::optional<NodeId> pass;
    bool is_settled = false;
  };

  std::map<double, double> forward_to_backward() const;
  void find_main_tree();
  void find_modules_and_passes();
  std::vector<NodeId> take_passes_off();
  void group_passes(std::span<const NodeId> roots);
  std::optional<NodeId> pass_above(double start);
  Starts passes_by_forward(const std::map<double, double>& arrows);
  NodeId add_backward_of(NodeId forward);
  NodeId backward_module(NodeId module, const Starts& passes);
  void insert_backward_modules(std::vector<NodeId> modules);
  bool is_pass(NodeId node) const;

  const Trace& trace_;
  std::vector<PluginNode>& nodes_;
  std::span<const NodeId> roots_;
  std::optional<NodeId> main_tree_;
  bool is_valid_ = true;
  std::vector<NodeId> modules_;
  std::vector<std::pair<NodeId, NodeId>> passes_;  // parent, root of the pass
  std::map<double, Above> above_;                  // by start
  std::map<NodeId, std::vector<NodeId>> groups_;   // passes that belong together, by the first
};

}  // namespace tbtrace::analyses
