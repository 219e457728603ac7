// Which functions are calls of layers that have no tensors to be known by.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <limits>
#include <string_view>

#include "libtorch/toolbox/layers/layer_tree.h"

namespace tbtrace::libtorch {
namespace {

struct ClassRule {
  std::string_view type;
  std::string_view op;  ///< without blanks and namespace
};

/// Classes whose operator has another name. Source: torch/nn/functional/*.h.
constexpr std::array kClasses = std::to_array<ClassRule>({
    {"ReLU6", "hardtanh"},
    {"Softmax2d", "softmax"},
    {"Dropout2d", "featuredropout"},
    {"Dropout3d", "featuredropout"},
    {"ZeroPad1d", "constantpadnd"},
    {"ZeroPad2d", "constantpadnd"},
    {"ZeroPad3d", "constantpadnd"},
    {"ConstantPad1d", "constantpadnd"},
    {"ConstantPad2d", "constantpadnd"},
    {"ConstantPad3d", "constantpadnd"},
    {"Fold", "col2im"},
    {"Unfold", "im2col"},
});

/// `maxpool2d` of `MaxPool2d`, `max_pool2d` and `aten::max_pool2d_`.
std::string plain_name(std::string_view name) {
  const std::size_t colons = name.rfind("::");
  if (colons != std::string_view::npos) name.remove_prefix(colons + 2);
  std::string plain;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) plain += static_cast<char>(std::tolower(byte));
  }
  return plain;
}

class Recognition {
 public:
  Recognition(LayerTree& tree, const ModelParts& parts) : tree_(tree), parts_(parts) {
    node_of_part_.resize(parts.parts.size(), kNone);
    for (std::size_t node = 0; node < tree.nodes.size(); ++node) {
      const LayerNode& layer = tree.nodes[node];
      if (layer.part && node_of_part_[*layer.part] == kNone) node_of_part_[*layer.part] = node;
    }
  }

  void run() {
    find_next_layers();
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

  /// Parts have the order of their registration.
  std::size_t between(std::size_t before, std::size_t after, const std::string& op) const {
    if (after <= before) return kNone;
    for (std::size_t part = before + 1; part < after; ++part) {
      const bool is_free = node_of_part_[part] == kNone;
      if (is_free && is_candidate(part, op)) return part;
    }
    return kNone;
  }

  /// A function after the last layer of a module is outside of its frame: of the modules around the
  /// layer before it, the innermost that has one such layer.
  std::size_t only_one_around(const LayerNode& function, std::size_t before) const {
    for (auto around = parts_.parts[before].parent; around; around = parts_.parts[*around].parent) {
      const std::size_t found = only_one_in(*around, function.type);
      if (found != kNone) return found;
    }
    const std::optional<std::size_t> around = tree_.nodes[function.parent].part;
    return around ? only_one_in(*around, function.type) : kNone;
  }

  std::size_t only_one_in(std::size_t around, const std::string& op) const {
    std::size_t found = kNone;
    for (const std::size_t part : parts_.parts[around].children) {
      if (!is_candidate(part, op)) continue;
      if (found != kNone) return kNone;
      found = part;
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
};

}  // namespace

bool calls_operator(const std::string& type, const std::string& op) {
  const std::string called = plain_name(op);
  if (plain_name(type) == called) return true;
  if (type == "Upsample") return called.starts_with("upsample");
  return std::any_of(kClasses.begin(), kClasses.end(),
                     [&](const ClassRule& rule) { return rule.type == type && rule.op == called; });
}

void recognise_layers(LayerTree& tree, const ModelParts& parts) { Recognition(tree, parts).run(); }

}  // namespace tbtrace::libtorch
