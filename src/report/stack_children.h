// The children of each node of a StackTree, as ranges of one array.
// Refers to no tree once it is made. Any number of threads may read one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <tbtrace/report.h>

namespace tbtrace::report {

class StackChildren {
 public:
  using Node = StackTree::Node;

  explicit StackChildren(const StackTree& stacks)
      : StackChildren(stacks, [](Node) { return true; }) {}

  /// Only the nodes for which `keep` is true.
  template <typename Keep>
  StackChildren(const StackTree& stacks, Keep keep) : first_(stacks.size() + 1) {
    const auto size = static_cast<Node>(stacks.size());
    for (Node node = 1; node < size; ++node) {
      if (keep(node)) ++first_[stacks.parent(node) + 1];
    }
    for (std::size_t node = 1; node < first_.size(); ++node) first_[node] += first_[node - 1];
    nodes_.resize(first_.back());
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    for (Node node = 1; node < size; ++node) {
      if (keep(node)) nodes_[next[stacks.parent(node)]++] = node;
    }
  }

  /// In the order of their numbers, unless they were sorted.
  std::span<const Node> of(Node node) const {
    return std::span(nodes_).subspan(first_[node], first_[node + 1] - first_[node]);
  }

  /// To be sorted.
  std::span<Node> of(Node node) {
    return std::span(nodes_).subspan(first_[node], first_[node + 1] - first_[node]);
  }

 private:
  std::vector<std::uint32_t> first_;  // by node: where its children begin; one more at the end
  std::vector<Node> nodes_;
};

}  // namespace tbtrace::report
