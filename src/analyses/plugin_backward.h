// Backward passes under the modules whose forward passes they belong to, as torch-tb-profiler puts
// them. Changes a forest in place. One thread.
// Source: kineto tb_plugin, profiler/op_tree.py at 94979607^.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include <tbtrace/trace.h>

#include "analyses/plugin_nodes.h"

namespace tbtrace::analyses {

class BackwardPasses {
 public:
  /// `roots`: of the trees of threads, in the order of their first ranges. `with_steps`: the one of
  /// them that has steps, if any does.
  BackwardPasses(const Trace& trace, std::vector<PluginNode>& nodes,
                 std::span<const PluginNodeId> roots, std::optional<PluginNodeId> with_steps);

  /// Takes the passes off their threads and hangs those that an arrow ties to a forward operator
  /// under `<module>.backward`, in the main thread's tree. Where there are no arrows, no modules or
  /// no passes, nothing changes.
  void rehang();

 private:
  using NodeId = PluginNodeId;
  using Starts = std::map<double, std::vector<NodeId>>;

  /// The node above the first node that starts at a time, and the root of a pass that it leads to.
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
  std::vector<NodeId> modules_;
  std::vector<std::pair<NodeId, NodeId>> passes_;  // parent, root of the pass
  std::map<double, Above> above_;                  // by start
  std::map<NodeId, std::vector<NodeId>> groups_;   // passes that belong together, by the first
};

}  // namespace tbtrace::analyses
