#include "recorder/memory/categories.h"

#include <algorithm>
#include <unordered_set>

namespace tbtrace::recorder {

namespace {

using Category = MemoryCategory;

std::uint64_t version_key(std::uint32_t tensor, std::uint32_t version) {
  return std::uint64_t{tensor} << 32 | version;
}

/// Versions of tensors.
class Versions {
 public:
  bool has(std::uint32_t tensor, std::uint32_t version) const {
    return keys_.contains(version_key(tensor, version));
  }
  bool has_taken(const FlowEdge& edge) const {
    return edge.is_taken() && has(edge.tensor, edge.version);
  }
  bool has_made(const FlowEdge& edge) const {
    return edge.is_made() && has(edge.tensor, edge.made_version());
  }
  void add_taken(const FlowEdge& edge) {
    if (edge.is_taken()) keys_.insert(version_key(edge.tensor, edge.version));
  }
  void add_made(const FlowEdge& edge) {
    if (edge.is_made()) keys_.insert(version_key(edge.tensor, edge.made_version()));
  }
  void remove_made(const FlowEdge& edge) {
    if (edge.is_made()) keys_.erase(version_key(edge.tensor, edge.made_version()));
  }
  void keep_those_of(const Versions& others) {
    std::erase_if(keys_, [&](std::uint64_t key) { return !others.keys_.contains(key); });
  }
  /// Calls `visitor(tensor, version)`.
  template <typename Visitor>
  void for_each(Visitor&& visitor) const {
    for (const std::uint64_t key : keys_) {
      visitor(static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(key));
    }
  }

 private:
  std::unordered_set<std::uint64_t> keys_;
};

class CategoryFinder {
 public:
  explicit CategoryFinder(const DataFlow& flow) : flow_(flow), categories_(flow.tensors.size()) {}

  MemoryCategories find() {
    for (const std::uint32_t tensor : flow_.gradients) categories_.set(tensor, Category::gradient);
    find_temporaries();
    for (const std::uint32_t tensor : flow_.parameters) {
      categories_.set(tensor, Category::parameter);
    }
    find_inputs();
    find_parameters();
    find_activations();
    find_optimizer_state();
    find_autograd_details();
    return std::move(categories_);
  }

 private:
  template <typename Condition>
  static bool any_edge(const FlowNode& node, Condition&& condition) {
    return std::any_of(node.edges.begin(), node.edges.end(), condition);
  }
  Category taken(const FlowEdge& edge) const { return categories_.get(edge.tensor, edge.version); }
  Category made(const FlowEdge& edge) const {
    return categories_.get(edge.tensor, edge.made_version());
  }
  bool takes(const FlowEdge& edge, Category category) const {
    return edge.is_taken() && taken(edge) == category;
  }
  bool makes(const FlowEdge& edge, Category category) const {
    return edge.is_made() && made(edge) == category;
  }

  void find_temporaries() {
    for (const FlowNode& node : flow_.nodes) {
      for (const FlowEdge& edge : node.edges) {
        if (edge.is_new && edge.is_freed) categories_.set_weak(edge.tensor, Category::temporary);
      }
    }
  }

  /// Tensors of which some version comes of a gradient or parameter, in one step or another.
  std::vector<bool> of_gradients() const {
    std::vector<bool> found(flow_.tensors.size(), false);
    const auto find = [&](std::uint32_t tensor, bool& is_more) {
      if (!found[tensor]) found[tensor] = is_more = true;
    };
    for (bool is_more = true; is_more;) {
      is_more = false;
      for (const FlowNode& node : flow_.nodes) {
        bool any = false;
        for (const FlowEdge& edge : node.edges) {
          if (!edge.is_taken()) continue;
          const Category category = taken(edge);
          if (category != Category::gradient && category != Category::parameter &&
              !found[edge.tensor]) {
            continue;
          }
          any = true;
          find(edge.tensor, is_more);
        }
        if (!any) continue;
        for (const FlowEdge& edge : node.edges) {
          if (edge.is_made()) find(edge.tensor, is_more);
        }
      }
    }
    return found;
  }

  /// What helps to make a gradient, comes of none, and was not made in the backward.
  void find_inputs() {
    const std::vector<bool> of_gradient = of_gradients();
    Versions helps;
    for (std::size_t at = flow_.nodes.size(); at-- > 0;) {
      const FlowNode& node = flow_.nodes[at];
      const bool is_part = any_edge(node, [&](const FlowEdge& edge) {
        return takes(edge, Category::gradient) || takes(edge, Category::parameter) ||
               makes(edge, Category::gradient) || makes(edge, Category::parameter) ||
               helps.has_taken(edge) || helps.has_made(edge);
      });
      if (!is_part) continue;
      for (const FlowEdge& edge : node.edges) {
        helps.add_taken(edge);
        helps.add_made(edge);
      }
    }
    for (const FlowNode& node : flow_.nodes) {
      if (!node.is_backward) continue;
      for (const FlowEdge& edge : node.edges) helps.remove_made(edge);
    }
    helps.for_each([&](std::uint32_t tensor, std::uint32_t version) {
      if (!of_gradient[tensor]) categories_.set_version(tensor, version, Category::input);
    });
  }

  /// Parameters that nobody told of: a forward takes them beside what comes of the inputs, they
  /// make gradients, and come of some.
  void find_parameters() {
    Versions forward;
    Versions candidates;
    for (const FlowNode& node : flow_.nodes) {
      if (node.is_backward) continue;
      bool is_forward = false;
      bool has_gradient = false;
      for (const FlowEdge& edge : node.edges) {
        has_gradient |= takes(edge, Category::gradient) || makes(edge, Category::gradient);
        is_forward |= takes(edge, Category::input) || forward.has_taken(edge);
      }
      if (!is_forward || has_gradient) continue;
      for (const FlowEdge& edge : node.edges) forward.add_made(edge);
      for (const FlowEdge& edge : node.edges) {
        if (!takes(edge, Category::input) && !forward.has_taken(edge)) candidates.add_taken(edge);
      }
    }
    Versions helps;
    for (std::size_t at = flow_.nodes.size(); at-- > 0;) {
      const FlowNode& node = flow_.nodes[at];
      const bool is_part = any_edge(node, [&](const FlowEdge& edge) {
        return makes(edge, Category::gradient) || helps.has_made(edge);
      });
      if (!is_part) continue;
      for (const FlowEdge& edge : node.edges) helps.add_taken(edge);
    }
    candidates.keep_those_of(helps);
    const std::vector<bool> of_gradient = of_gradients();
    candidates.for_each([&](std::uint32_t tensor, std::uint32_t) {
      if (of_gradient[tensor]) categories_.set(tensor, Category::parameter);
    });
  }

  /// From the inputs on, up to the backward.
  void find_activations() {
    for (const FlowNode& node : flow_.nodes) {
      if (node.is_backward) continue;
      bool is_forward = false;
      bool is_other = false;
      for (const FlowEdge& edge : node.edges) {
        if (!edge.is_taken()) continue;
        const Category category = taken(edge);
        const bool leads_here = category == Category::input || category == Category::activation;
        is_forward |= leads_here;
        is_other |=
            !leads_here && category != Category::parameter && category != Category::temporary;
      }
      if (!is_forward || is_other) continue;
      for (const FlowEdge& edge : node.edges) {
        if (edge.is_made()) {
          categories_.set_version(edge.tensor, edge.made_version(), Category::activation);
        }
      }
    }
  }

  /// torch asks Python's optimizers, which C++ has no way to: what an optimizer keeps is known by
  /// what is done to it. Beside the backward a gradient, what was made of one, or another state of
  /// its size is worked into it, and it is there when the recording ends.
  void find_optimizer_state() {
    std::vector<bool> is_freed(flow_.tensors.size(), false);
    for (const FlowNode& node : flow_.nodes) {
      for (const FlowEdge& edge : node.edges) {
        if (edge.is_freed) is_freed[edge.tensor] = true;
      }
    }
    std::vector<bool> is_source(flow_.tensors.size(), false);
    for (bool is_more = true; is_more;) {
      is_more = false;
      for (const FlowNode& node : flow_.nodes) {
        if (!node.is_backward) is_more |= find_optimizer_state(node, is_freed, is_source);
      }
    }
  }

  bool find_optimizer_state(const FlowNode& node, const std::vector<bool>& is_freed,
                            std::vector<bool>& is_source) {
    bool is_more = false;
    const auto feeds = [&](const FlowEdge& edge) {
      return edge.is_taken() && (is_source[edge.tensor] || taken(edge) == Category::gradient ||
                                 taken(edge) == Category::optimizer_state);
    };
    for (const FlowEdge& edge : node.edges) {
      const Category now = edge.is_made() ? made(edge) : Category::parameter;
      if (now == Category::parameter || now == Category::gradient ||
          now == Category::optimizer_state) {
        continue;
      }
      const bool is_fed = any_edge(node, [&](const FlowEdge& other) {
        return other.tensor != edge.tensor && feeds(other) &&
               flow_.tensors[other.tensor].bytes == flow_.tensors[edge.tensor].bytes;
      });
      if (!is_fed) continue;
      if (edge.is_new && !is_source[edge.tensor]) is_source[edge.tensor] = is_more = true;
      if (edge.is_new || is_freed[edge.tensor]) continue;
      categories_.set(edge.tensor, Category::optimizer_state);
      is_more = true;
    }
    return is_more;
  }

  void find_autograd_details() {
    for (const FlowNode& node : flow_.nodes) {
      if (!node.is_backward) continue;
      for (const FlowEdge& edge : node.edges) {
        if (!edge.is_made()) continue;
        const std::uint32_t version = edge.made_version();
        if (version > 0) {
          const Category before = categories_.get(edge.tensor, version - 1);
          if (before != Category::unknown && before != Category::autograd_detail) continue;
        }
        categories_.set_version(edge.tensor, version, Category::autograd_detail);
      }
    }
  }

  const DataFlow& flow_;
  MemoryCategories categories_;
};

}  // namespace

MemoryCategory MemoryCategories::get(std::uint32_t tensor, std::uint32_t version) const {
  if (of_tensor_[tensor]) return *of_tensor_[tensor];
  if (weak_[tensor]) return *weak_[tensor];
  const auto found = of_version_.find(version_key(tensor, version));
  return found == of_version_.end() ? Category::unknown : found->second;
}

void MemoryCategories::set_version(std::uint32_t tensor, std::uint32_t version,
                                   MemoryCategory category) {
  of_version_.try_emplace(version_key(tensor, version), category);
}

MemoryCategories memory_categories(const DataFlow& flow) { return CategoryFinder(flow).find(); }

}  // namespace tbtrace::recorder
