#include <cassert>

#include <tbtrace/report.h>

#include "base/bounded_sum.h"

namespace tbtrace {

std::uint32_t StackTree::frame_number(std::string_view frame) {
  const auto [known, added] =
      frame_numbers_.try_emplace(std::string(frame), static_cast<std::uint32_t>(frames_.size()));
  if (added) frames_.emplace_back(frame);
  return known->second;
}

StackTree::Node StackTree::child(Node parent, std::uint32_t frame_number) {
  const std::uint64_t key = std::uint64_t{parent} << 32 | frame_number;
  const auto [known, added] = children_.try_emplace(key, static_cast<Node>(nodes_.size()));
  if (added) nodes_.push_back({frame_number, parent, 0});
  return known->second;
}

StackTree::Node StackTree::add_child(Node parent, std::uint32_t frame_number) {
  nodes_.push_back({frame_number, parent, 0});
  return static_cast<Node>(nodes_.size() - 1);
}

void StackTree::add(Node node, std::int64_t weight) {
  assert(weight >= 0);
  add_bounded(nodes_[node].self, weight);
  add_bounded(total_, weight);
}

}  // namespace tbtrace
