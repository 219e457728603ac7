#include "partials/stack_tables.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include <tbtrace/flame_graph.h>

namespace tbtrace::partials {

void add_stacks(Content& content, const Trace& trace) {
  for (std::size_t weight = 0; weight < kWeightCount; ++weight) {
    const StackTree tree = *flame_graph(trace, {.weight = std::string(kStackWeights[weight])});
    std::vector<std::uint32_t> node_of(tree.size(), 0);
    for (StackTree::Node node = 0; node < tree.size(); ++node) {
      if (node != StackTree::kRoot) {
        node_of[node] = content.stacks.child(node_of[tree.parent(node)],
                                             content.texts.intern(tree.frame(node)));
      }
      StackSums::Weights weights = {};
      weights[weight] = tree.self(node);
      content.stacks.add(node_of[node], weights);
    }
  }
}

std::vector<std::uint32_t> sorted_nodes(const Content& content) {
  const std::span<const StackSums::Node> nodes = content.stacks.nodes();
  std::vector<std::vector<std::uint32_t>> children(nodes.size());
  for (std::uint32_t node = 1; node < nodes.size(); ++node) {
    children[nodes[node].parent].push_back(node);
  }
  std::vector<std::uint32_t> sorted;
  sorted.reserve(nodes.size());
  std::vector<std::uint32_t> waiting = {0};
  while (!waiting.empty()) {
    const std::uint32_t node = waiting.back();
    waiting.pop_back();
    sorted.push_back(node);
    // The last one is taken first.
    std::ranges::sort(children[node], std::greater(),
                      [&](std::uint32_t child) { return content.texts[nodes[child].frame]; });
    waiting.insert(waiting.end(), children[node].begin(), children[node].end());
  }
  return sorted;
}

StackTree stacks_of(const Content& content, std::size_t weight) {
  const std::span<const StackSums::Node> nodes = content.stacks.nodes();
  // Whether the node, or one below it, has any of this weight.
  std::vector<bool> is_needed(nodes.size(), false);
  for (std::size_t node = nodes.size(); node-- > 0;) {
    is_needed[node] = is_needed[node] || nodes[node].self[weight] > 0;
    if (is_needed[node]) is_needed[nodes[node].parent] = true;
  }
  StackTree tree(kStackWeights[weight] == "cpu_memory" ? "bytes" : "ns");
  std::vector<StackTree::Node> node_of(nodes.size(), StackTree::kRoot);
  for (const std::uint32_t node : sorted_nodes(content)) {
    if (!is_needed[node]) continue;
    if (node != 0) {
      node_of[node] = tree.child(node_of[nodes[node].parent],
                                 tree.frame_number(content.texts[nodes[node].frame]));
    }
    tree.add(node_of[node], nodes[node].self[weight]);
  }
  return tree;
}

}  // namespace tbtrace::partials
