// Three passes over the nodes, none of them recursive: totals from the leaves to the root; children
// of each node as a sorted range of one array; boxes by a walk with its own stack.
#include "writers/flame/layout.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>

#include "base/bounded_sum.h"
#include "base/nearest_integer.h"
#include "report/stack_children.h"

namespace tbtrace::writers {
namespace {

using Node = StackTree::Node;

/// Each node's own weight plus that of its descendants, clamped to 64 bits. A parent has a smaller
/// number than its children.
std::vector<std::int64_t> totals_of(const StackTree& stacks) {
  std::vector<std::int64_t> totals(stacks.size());
  for (Node node = 0; node < stacks.size(); ++node) totals[node] = stacks.self(node);
  for (std::size_t node = stacks.size(); node-- > 1;) {
    add_bounded(totals[stacks.parent(static_cast<Node>(node))], totals[node]);
  }
  return totals;
}

/// The children of all nodes that get a box, in the order in which they stand.
report::StackChildren ordered_children(const StackTree& stacks,
                                       const std::vector<std::int64_t>& totals,
                                       const LargestWeights& drawn, FrameOrder order) {
  report::StackChildren children(stacks,
                                 [&](Node node) { return drawn.contains(totals[node], node); });
  if (order == FrameOrder::time) return children;
  for (Node node = 0; node < stacks.size(); ++node) {
    std::ranges::sort(children.of(node), [&](Node a, Node b) {
      if (order == FrameOrder::weight && totals[a] != totals[b]) return totals[a] > totals[b];
      const int difference = stacks.frame(a).compare(stacks.frame(b));
      return difference != 0 ? difference < 0 : a < b;
    });
  }
  return children;
}

std::int64_t least_weight(std::int64_t total, const FlameLayoutOptions& options) {
  if (options.narrowest_px >= options.width_px) return total;
  const double least =
      std::ceil(static_cast<double>(total) * options.narrowest_px / options.width_px);
  return std::clamp(truncated_integer(least), std::int64_t{1}, total);
}

}  // namespace

LargestWeights largest_weights(std::span<const std::int64_t> weights, std::size_t number,
                               std::int64_t lowest) {
  std::vector<std::int64_t> possible;
  std::copy_if(weights.begin(), weights.end(), std::back_inserter(possible),
               [&](std::int64_t weight) { return weight >= lowest; });
  if (possible.size() <= number) return {.least = lowest, .last = weights.size()};
  const auto least = possible.begin() + static_cast<std::ptrdiff_t>(number) - 1;
  std::nth_element(possible.begin(), least, possible.end(), std::greater<>());
  std::size_t left = static_cast<std::size_t>(std::count(possible.begin(), least + 1, *least));
  LargestWeights largest = {.least = *least, .last = 0};
  for (std::size_t place = 0; left > 0; ++place) {
    if (weights[place] != *least) continue;
    largest.last = place;
    --left;
  }
  return largest;
}

FlameLayout flame_graph_layout(const StackTree& stacks, const FlameLayoutOptions& options) {
  struct Place {
    Node node;
    std::uint32_t depth;
    std::int64_t start;
    std::int64_t total;
  };
  FlameLayout layout;
  const std::vector<std::int64_t> totals = totals_of(stacks);
  layout.total = totals[StackTree::kRoot];
  if (layout.total <= 0) return layout;

  const std::int64_t least = least_weight(layout.total, options);
  // A node has no more weight than its parent and a higher number, so parents are among the
  // largest.
  const report::StackChildren children = ordered_children(
      stacks, totals, largest_weights(totals, options.most_boxes, least), options.order);
  std::vector<Place> waiting = {{StackTree::kRoot, 0, 0, layout.total}};
  while (!waiting.empty()) {
    const auto [node, depth, start, total] = waiting.back();
    waiting.pop_back();
    const std::string_view frame = node == StackTree::kRoot ? "all" : stacks.frame(node);
    layout.boxes.push_back({depth, start, total, std::min(stacks.self(node), total), frame, node});
    layout.levels = std::max(layout.levels, depth + 1);
    const std::size_t before = waiting.size();
    std::int64_t child_start = start;
    std::int64_t room = total;  // less than the children need only if a sum was clamped
    for (const Node child : children.of(node)) {
      const std::int64_t child_total = std::min(totals[child], room);
      if (child_total < least) continue;
      waiting.push_back({child, depth + 1, child_start, child_total});
      child_start += child_total;
      room -= child_total;
    }
    std::reverse(waiting.begin() + static_cast<std::ptrdiff_t>(before), waiting.end());
  }
  const auto weighted =
      std::count_if(totals.begin(), totals.end(), [](std::int64_t total) { return total > 0; });
  layout.too_narrow = static_cast<std::size_t>(weighted) - layout.boxes.size();
  return layout;
}

}  // namespace tbtrace::writers
