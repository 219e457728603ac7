#include "libtorch/toolbox/layers/layer_tree.h"

#include <algorithm>
#include <map>
#include <utility>

#include <tbtrace/analysis_context.h>
#include <tbtrace/flops.h>

#include "analyses/attribution/forward_operators.h"
#include "analyses/attribution/owners.h"
#include "analyses/flops/known_operations.h"
#include "analyses/flops/work_owners.h"
#include "base/bounded_sum.h"
#include "libtorch/toolbox/layers/layer_places.h"
#include "trace/call_tree.h"

namespace tbtrace::libtorch {
namespace {

using analyses::WorkOwner;
using analyses::WorkOwners;

class Building {
 public:
  Building(const RecordedRun& run, const ModelParts* parts)
      : run_(run), trace_(*run.trace), parts_(parts), places_(run, parts) {}

  LayerTree build() {
    where_ = analyses::find_places(trace_, analyses::ForwardOperators(trace_),
                                   [this](analyses::Place around, EventId range, bool backward) {
                                     return places_.place_in(around, range, backward);
                                   });
    tree_.has_shapes = !trace_.argument(Argument::input_dims).empty();
    add_nodes();
    add_times();
    add_operations();
    add_shapes();
    return std::move(tree_);
  }

 private:
  LayerNode& node_of(EventId range) {
    return tree_.nodes[places_.layer_of(where_.place[index(range)])];
  }

  void add_nodes() {
    const auto& layers = places_.layers();
    tree_.nodes.resize(layers.size());
    for (std::size_t place = 0; place < layers.size(); ++place) {
      const LayerPlaces::Layer& layer = layers[place];
      LayerNode& node = tree_.nodes[place];
      node.parent = layer.parent;
      node.part = layer.part;
      node.is_function = !layer.function.empty();
      if (node.is_function) {
        node.type = layer.function;
      } else if (layer.part) {
        node.name = parts_->parts[*layer.part].name;
        node.type = parts_->parts[*layer.part].type;
      } else if (place != 0) {
        const auto number = static_cast<analyses::Place>(place);
        node.name = places_.name(number);
        node.type = places_.type(number);
      }
    }
  }

  /// What recording an operator may take besides its own time, at most.
  static constexpr std::int64_t kRecordingNs = 5000;

  void add_times() {
    const analyses::WorkByPlace done =
        analyses::work_by_place(trace_, where_, tree_.nodes.size(), {});
    for (std::size_t place = 0; place < tree_.nodes.size(); ++place) {
      const auto layer = places_.layer_of(static_cast<analyses::Place>(place));
      tree_.nodes[layer].work += done.work[place];
    }
    tree_.nodes.front().work += done.communication;
  }

  void add_operations() {
    const WorkOwners owners(trace_);
    for (const WorkOwner& owner : owners.owners()) {
      if (owner.state != WorkState::counted) continue;
      LayerNode& node = node_of(owner.op);
      node.macs = saturating_sum(node.macs, owner.work.macs);
      node.flops = saturating_sum(node.flops, owner.work.flops);
      if (where_.is_backward[index(owner.op)] == 0) continue;
      node.backward_macs = saturating_sum(node.backward_macs, owner.work.macs);
      node.backward_flops = saturating_sum(node.backward_flops, owner.work.flops);
    }
    add_uncounted(owners);
  }

  /// Each instant and each kernel is of one operator, as for `tbtrace model --by operator`.
  void add_uncounted(const WorkOwners& owners) {
    std::map<std::pair<std::string_view, bool>, UncountedOperator> by_name;
    const auto entry_of = [&](std::uint32_t number) -> UncountedOperator* {
      if (number == WorkOwners::kNone) return nullptr;
      const WorkOwner& owner = owners.owners()[number];
      if (!analyses::is_uncounted(owner.state)) return nullptr;
      return &by_name[{trace_.name(owner.op), owner.state == WorkState::unknown_sizes}];
    };
    for (std::uint32_t number = 0; number < owners.owners().size(); ++number) {
      UncountedOperator* const entry = entry_of(number);
      if (entry == nullptr) continue;
      const WorkOwner& owner = owners.owners()[number];
      LayerNode& node = node_of(owner.op);
      ++node.uncounted_calls;
      if (entry->calls++ > 0) continue;
      entry->name = trace_.name(owner.op);
      entry->has_rule = owner.state == WorkState::unknown_sizes;
      entry->path = path_of(places_.layer_of(where_.place[index(owner.op)]));
    }
    const AnalysisContext context(trace_);
    std::int64_t in_operators_ns = 0;
    for (const EventId range : context.host_ranges()) {
      if (trace_.kind(range) == EventKind::cpu_op) {
        add_bounded(in_operators_ns, context.self_time_ns(range) + kRecordingNs);
      }
      UncountedOperator* const entry = entry_of(owners.of(range));
      if (entry != nullptr) add_bounded(entry->cpu_time_ns, context.self_time_ns(range));
    }
    const CallTree& tree = call_tree_of(trace_);
    for (const DeviceLink& link : context.device_links()) {
      UncountedOperator* const entry = entry_of(owners.of(analyses::owner_of_work(tree, link)));
      if (entry == nullptr) continue;
      add_bounded(entry->device_time_ns, trace_.events().duration_ns(link.activity));
    }
    tree_.ran_outside_operators =
        context.device_links().empty() && run_.duration_ns - kRecordingNs > 2 * in_operators_ns &&
        std::ranges::all_of(tree_.nodes, [](const LayerNode& node) { return node.flops == 0; });
    for (auto& [key, entry] : by_name) tree_.uncounted.push_back(std::move(entry));
    std::stable_sort(tree_.uncounted.begin(), tree_.uncounted.end(),
                     [](const UncountedOperator& one, const UncountedOperator& other) {
                       return std::pair(one.device_time_ns, one.cpu_time_ns) >
                              std::pair(other.device_time_ns, other.cpu_time_ns);
                     });
  }

  std::string path_of(std::size_t node) const {
    while (tree_.nodes[node].is_function) node = tree_.nodes[node].parent;
    const LayerNode& layer = tree_.nodes[node];
    return layer.part ? parts_->parts[*layer.part].path : layer.name;
  }

  void add_shapes() {
    const CallTree& tree = call_tree_of(trace_);
    std::vector<bool> is_in_operator(trace_.events().size(), false);
    for (const EventId range : tree.ranges()) {
      const EventId parent = tree.parent(range);
      const bool is_inside = parent != EventId::none && is_in_operator[index(parent)];
      const bool is_operator =
          trace_.kind(range) == EventKind::cpu_op && analyses::is_operator_name(trace_.name(range));
      is_in_operator[index(range)] = is_inside || is_operator;
      if (where_.is_backward[index(range)] != 0) continue;
      LayerNode& node = node_of(range);
      if (places_.is_call(range)) ++node.calls;
      if (!is_operator || is_inside) continue;
      if (node.is_function) ++node.calls;
      if (places_.is_after_backward(range)) continue;
      if (!run_.observed.empty() && run_.observed[index(range)] != RecordedRun::kNone) {
        add_observed(node, run_.operators[run_.observed[index(range)]]);
      }
    }
    // A module hierarchy of TorchScript does not say where a call begins.
    for (LayerNode& node : tree_.nodes) node.calls_are_known = node.calls > 0;
  }

  void add_observed(LayerNode& own, const ObservedOperator& op) {
    own.activations += op.new_elements;
    own.activation_bytes += op.new_bytes;
    LayerNode* node = &own;
    while (true) {
      if (node->calls <= 1) {
        if (!node->was_given_inputs && !op.inputs.empty()) {
          node->inputs = op.inputs;
          node->was_given_inputs = true;
        }
        if (!op.outputs.empty()) node->outputs = op.outputs;
      }
      if (node == tree_.nodes.data()) return;
      node = &tree_.nodes[node->parent];
    }
  }

  const RecordedRun& run_;
  const Trace& trace_;
  const ModelParts* parts_;
  LayerPlaces places_;
  analyses::WorkPlaces where_;
  LayerTree tree_;
};

}  // namespace

LayerTree layer_tree_of(const RecordedRun& run, const ModelParts* parts) {
  return Building(run, parts).build();
}

}  // namespace tbtrace::libtorch
