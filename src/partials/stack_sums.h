// Stacks with several weights, which add up.
// Owns its nodes; frames are numbers of texts in a pool beside it. Not synchronised.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/id_map.h"

namespace tbtrace::partials {

/// In the order of kStackWeights.
inline constexpr std::size_t kWeightCount = 3;

/// A prefix tree. Nodes are numbered parent before child; 0 is the root. Weights are what was spent
/// in the frame itself, not negative; they saturate.
class StackSums {
 public:
  using Weights = std::array<std::int64_t, kWeightCount>;
  struct Node {
    std::uint32_t parent = 0;
    std::uint32_t frame = 0;
    Weights self = {};
  };

  std::span<const Node> nodes() const { return nodes_; }

  /// The node of a frame under `parent`, made on first use.
  std::uint32_t child(std::uint32_t parent, std::uint32_t frame);
  void add(std::uint32_t node, const Weights& weights);

  /// `text_of`: by text there, its number here.
  void add(const StackSums& other, std::span<const std::uint32_t> text_of);

 private:
  std::vector<Node> nodes_ = {{}};
  IdMap children_;  // by parent and frame
};

}  // namespace tbtrace::partials
