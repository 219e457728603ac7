// The plugin's tree of operators, steps and modules, with what they launched.
// Owns its nodes; made from a Trace, which must outlive it. Immutable once made.
// A thread id that is no number loses its ranges here; it loses the plugin the whole file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <tbtrace/trace.h>

namespace tbtrace::analyses {

class PluginTree {
 public:
  using NodeId = std::size_t;

  enum class Class : std::uint8_t { root, op, other_range, step, module, backward };

  struct Node {
    EventId event = EventId::none;
    Class node_class = Class::other_range;
    bool is_operator_event = false;  ///< of category cpu_op, whatever its class
    double start = 0;                ///< us, as the file has it
    double end = 0;
    std::vector<NodeId> children = {};
    std::vector<std::size_t> launches = {};
    double device = 0;
    double self_device = 0;
    double self_host = 0;
  };

  explicit PluginTree(const Trace& trace);

  const Node& node(NodeId id) const { return nodes_[id]; }

  /// Rows of the operator table, in the order in which the plugin meets them.
  std::vector<NodeId> operators() const;

 private:
  struct Launch {
    double start = 0;
    double end = 0;
    double device = 0;
  };
  struct Forest {  // by thread id, in the order of first ranges
    std::vector<std::int64_t> order;
    std::map<std::int64_t, std::vector<NodeId>> ranges;
    std::map<std::int64_t, NodeId> roots;
  };

  void read_events();
  void add_range(EventId event);
  void attach_launches();
  void nest(std::int64_t thread);
  void merge_duplicates(NodeId root);
  void fill(NodeId root);
  void bound(NodeId root);
  std::optional<Class> class_of(EventId event) const;
  std::int64_t thread_of(EventId event, bool& known) const;

  // Backward passes under the modules whose forward passes they belong to.
  std::map<double, double> forward_to_backward() const;
  void rehang_backward_passes();
  void find_main_thread();
  NodeId backward_module(NodeId module, const std::map<double, std::vector<NodeId>>& passes);
  void insert_backward_modules(std::vector<NodeId> modules);

  const Trace& trace_;
  std::vector<Node> nodes_;
  std::vector<Launch> launches_;
  std::map<std::optional<std::int64_t>, std::vector<std::size_t>> launches_of_id_;
  Forest forest_;
  bool lightning_ = false;
  std::optional<std::int64_t> main_thread_;
};

}  // namespace tbtrace::analyses
