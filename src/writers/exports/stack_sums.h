// Sums of time by stack: what is left of ranges if their order is given up. Owns its nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "writers/exports/lane_events.h"

namespace tbtrace::writers {

class StackSums {
 public:
  static constexpr std::uint32_t kRoot = 0;
  /// Files write whole stacks; what is deeper counts as the frame that is there.
  static constexpr std::uint32_t kDeepest = 1000;

  struct Node {
    std::uint32_t parent = kRoot;
    std::uint32_t frame = 0;
    std::int64_t self_ns = 0;
    std::uint32_t depth = 0;
  };

  std::uint32_t child(std::uint32_t parent, std::uint32_t frame) {
    const std::uint32_t depth = nodes_[parent].depth + 1;
    if (depth > kDeepest) return parent;
    const std::uint64_t key = std::uint64_t{parent} << 32 | frame;
    const auto [place, is_new] =
        children_.try_emplace(key, static_cast<std::uint32_t>(nodes_.size()));
    if (is_new) nodes_.push_back({parent, frame, 0, depth});
    return place->second;
  }

  void add(std::uint32_t node, std::int64_t self_ns) { nodes_[node].self_ns += self_ns; }

  /// Adds the events of one lane.
  void add(std::span<const LaneEvent> events) {
    std::vector<std::uint32_t> open = {kRoot};
    std::int64_t until = 0;
    for (const LaneEvent& event : events) {
      nodes_[open.back()].self_ns += event.time_ns - until;
      until = event.time_ns;
      if (event.is_begin) {
        open.push_back(child(open.back(), event.frame));
      } else {
        open.pop_back();
      }
    }
  }

  /// The first is the root, whose time is that without a range.
  std::span<const Node> nodes() const { return nodes_; }

  /// The frames of a node, the outermost first.
  std::vector<std::uint32_t> frames(std::uint32_t node) const {
    std::vector<std::uint32_t> frames;
    for (; node != kRoot; node = nodes_[node].parent) frames.push_back(nodes_[node].frame);
    return {frames.rbegin(), frames.rend()};
  }

 private:
  std::vector<Node> nodes_ = {{}};
  std::unordered_map<std::uint64_t, std::uint32_t> children_;
};

}  // namespace tbtrace::writers
