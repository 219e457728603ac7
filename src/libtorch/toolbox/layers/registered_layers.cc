// Which functions are calls of layers that have no tensors to be known by.
#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "libtorch/toolbox/layers/layer_tree.h"
#include "symbols/names/class_name.h"

namespace tbtrace::libtorch {
namespace {

struct ClassRule {
  std::string_view type;
  std::string_view op;
};

/// Classes whose operator has another name. Source: torch/nn/functional/*.h.
constexpr std::array kClasses = std::to_array<ClassRule>({
    {"ReLU6", "hardtanh"},
    {"Softmax2d", "softmax"},
    {"Dropout2d", "feature_dropout"},
    {"Dropout3d", "feature_dropout"},
    {"ZeroPad1d", "constant_pad_nd"},
    {"ZeroPad2d", "constant_pad_nd"},
    {"ZeroPad3d", "constant_pad_nd"},
    {"ConstantPad1d", "constant_pad_nd"},
    {"ConstantPad2d", "constant_pad_nd"},
    {"ConstantPad3d", "constant_pad_nd"},
    {"Fold", "col2im"},
    {"Unfold", "im2col"},
});

class Recognition {
 public:
  Recognition(LayerTree& tree, const ModelParts& parts) : tree_(tree), parts_(parts) {
    node_of_part_.resize(parts.parts.size(), kNone);
    is_called_.resize(parts.parts.size(), false);
    is_in_order_.resize(parts.parts.size(), true);
    for (std::size_t node = 0; node < tree.nodes.size(); ++node) {
      const LayerNode& layer = tree.nodes[node];
      if (layer.part && node_of_part_[*layer.part] == kNone) node_of_part_[*layer.part] = node;
    }
  }

  void run() {
    find_next_layers();
    find_called();
    std::size_t before = 0;  // the part that was called last
    std::size_t last = 0;    // the part that was recognised last
    for (std::size_t node = 1; node < next_.size(); ++node) {
      LayerNode& layer = tree_.nodes[node];
      if (!layer.is_function) {
        if (is_innermost(layer)) before = last = *layer.part;
        continue;
      }
      std::size_t part = between(std::max(before, last), next_[node], layer.type);
      if (part != kNone) last = part;
      if (part == kNone) part = only_one_around(layer, before);
      if (part != kNone) give(node, part);
    }
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  bool is_candidate(std::size_t part, const std::string& op) const {
    const ModelPart& known = parts_.parts[part];
    return known.children.empty() && !known.has_tensors && calls_operator(known.type, op);
  }

  /// Modules around others begin with the first of these that has tensors.
  bool is_innermost(const LayerNode& layer) const {
    return !layer.is_function && layer.part && parts_.parts[*layer.part].children.empty();
  }

  /// By node: the part of the next layer that was called for the first time.
  void find_next_layers() {
    next_.resize(tree_.nodes.size(), parts_.parts.size());
    for (std::size_t node = tree_.nodes.size() - 1; node-- > 0;) {
      const LayerNode& after = tree_.nodes[node + 1];
      next_[node] = is_innermost(after) ? *after.part : next_[node + 1];
    }
  }

  /// Which modules have a layer that was called, and which call theirs in another order than that
  /// of their registration.
  void find_called() {
    std::vector<std::size_t> last(parts_.parts.size(), 0);
    is_called_[0] = true;
    for (const LayerNode& layer : tree_.nodes) {
      if (!is_innermost(layer)) continue;
      std::size_t part = *layer.part;
      is_called_[part] = true;
      for (auto around = parts_.parts[part].parent; around; around = parts_.parts[part].parent) {
        if (part < last[*around]) is_in_order_[*around] = false;
        last[*around] = std::max(last[*around], part);
        part = *around;
        is_called_[part] = true;
      }
    }
  }

  bool is_in(std::size_t part, std::size_t around) const {
    while (part != around && parts_.parts[part].parent) part = *parts_.parts[part].parent;
    return part == around;
  }

  /// Of the layers that are registered between two that are called one after the other, in a module
  /// around one of these that calls its own in the order of registration. Modules within it up to
  /// the layer have no tensors to be known by; one that has was not called.
  std::size_t between(std::size_t before, std::size_t after, const std::string& op) const {
    if (after <= before) return kNone;
    for (std::size_t part = before + 1; part < after; ++part) {
      if (node_of_part_[part] != kNone || !is_candidate(part, op)) continue;
      std::size_t around = *parts_.parts[part].parent;
      while (!is_called_[around] && !parts_.parts[around].has_tensors) {
        around = *parts_.parts[around].parent;
      }
      if (!is_in_order_[around]) continue;
      const bool is_last = after == parts_.parts.size();
      if (is_in(before, around) || (!is_last && is_in(after, around))) return part;
    }
    return kNone;
  }

  /// A function after the last layer of a module is outside of its frame, but within that of a
  /// module around: of the modules around the layer before it, up to the one of the frame, the
  /// innermost that has such layers, if it has one.
  std::size_t only_one_around(const LayerNode& function, std::size_t before) const {
    const std::optional<std::size_t> frame = tree_.nodes[function.parent].part;
    if (!frame) return kNone;
    auto around = parts_.parts[before].parent;
    while (around && *around != *frame && is_in(*around, *frame)) {
      const auto found = candidates_in(*around, function.type);
      if (!found.empty()) return found.size() == 1 ? found.front() : kNone;
      around = parts_.parts[*around].parent;
    }
    const auto found = candidates_in(*frame, function.type);
    return found.size() == 1 ? found.front() : kNone;
  }

  std::vector<std::size_t> candidates_in(std::size_t around, const std::string& op) const {
    std::vector<std::size_t> found;
    for (const std::size_t part : parts_.parts[around].children) {
      if (is_candidate(part, op)) found.push_back(part);
    }
    return found;
  }

  std::size_t node_with(std::size_t part) {
    if (node_of_part_[part] != kNone) return node_of_part_[part];
    LayerNode node;
    node.part = part;
    node.name = parts_.parts[part].name;
    node.type = parts_.parts[part].type;
    node.parent = node_with(*parts_.parts[part].parent);
    tree_.nodes.push_back(std::move(node));
    return node_of_part_[part] = tree_.nodes.size() - 1;
  }

  void give(std::size_t function, std::size_t part) {
    if (node_of_part_[part] == kNone) {
      const std::size_t parent = node_with(*parts_.parts[part].parent);
      LayerNode& node = tree_.nodes[function];
      node.is_function = false;
      node.part = part;
      node.name = parts_.parts[part].name;
      node.type = parts_.parts[part].type;
      node.parent = parent;
      node_of_part_[part] = function;
      return;
    }
    LayerNode& node = tree_.nodes[node_of_part_[part]];
    LayerNode& from = tree_.nodes[function];
    node.calls += from.calls;
    node.work += from.work;
    node.macs += from.macs;
    node.flops += from.flops;
    node.backward_macs += from.backward_macs;
    node.backward_flops += from.backward_flops;
    node.uncounted_calls += from.uncounted_calls;
    node.activations += from.activations;
    node.activation_bytes += from.activation_bytes;
    from = {};
    from.is_function = true;  // without calls: it is left out
  }

  LayerTree& tree_;
  const ModelParts& parts_;
  std::vector<std::size_t> node_of_part_;
  std::vector<std::size_t> next_;
  std::vector<bool> is_called_;    // by part: it or a layer inside it
  std::vector<bool> is_in_order_;  // by part
};

}  // namespace

bool calls_operator(const std::string& type, const std::string& op) {
  if (is_named_as(type, op)) return true;
  if (type == "Upsample") return last_part(op).starts_with("upsample");
  return std::any_of(kClasses.begin(), kClasses.end(), [&](const ClassRule& rule) {
    return rule.type == type && is_named_as(rule.op, op);
  });
}

void recognise_layers(LayerTree& tree, const ModelParts& parts) { Recognition(tree, parts).run(); }

}  // namespace tbtrace::libtorch
