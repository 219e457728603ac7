#include "partials/stack_sums.h"

#include "base/bounded_sum.h"

namespace tbtrace::partials {

std::uint32_t StackSums::child(std::uint32_t parent, std::uint32_t frame) {
  const auto key = static_cast<std::int64_t>(std::uint64_t{parent} << 32 | frame);
  const auto [node, is_new] = children_.insert(key, static_cast<std::uint32_t>(nodes_.size()));
  if (is_new) nodes_.push_back({parent, frame, {}});
  return node;
}

void StackSums::add(std::uint32_t node, const Weights& weights) {
  for (std::size_t weight = 0; weight < kWeightCount; ++weight) {
    add_bounded(nodes_[node].self[weight], weights[weight]);
  }
}

void StackSums::add(const StackSums& other, std::span<const std::uint32_t> text_of) {
  std::vector<std::uint32_t> here(other.nodes_.size(), 0);
  for (std::size_t node = 1; node < other.nodes_.size(); ++node) {
    here[node] = child(here[other.nodes_[node].parent], text_of[other.nodes_[node].frame]);
    add(here[node], other.nodes_[node].self);
  }
  add(0, other.nodes_.front().self);
}

}  // namespace tbtrace::partials
