// The positions of the boxes of a flame graph, in units of weight, independent of drawing.
// The layout refers to frame texts of its tree, which must outlive it.
// Pure functions; any number of threads may call them on one tree while none changes it.
// Accepts any tree, however deep. A tree without weight has no boxes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include <tbtrace/flame_graph.h>
#include <tbtrace/report.h>

namespace tbtrace::writers {

struct FlameBox {
  std::uint32_t depth = 0;  ///< 0: the root
  std::int64_t start = 0;   ///< weight to the left of the box
  std::int64_t total = 0;   ///< weight of the frame and all above it: the width
  std::int64_t self = 0;    ///< weight of the frame alone
  std::string_view frame;   ///< `all` for the root
  StackTree::Node node = StackTree::kRoot;
};

struct FlameLayoutOptions {
  double width_px = 1200;     ///< of the root
  double narrowest_px = 0.1;  ///< boxes below this width are left out
  FrameOrder order = FrameOrder::name;
  /// At least 1. If there are more, the narrowest are left out.
  std::size_t most_boxes = std::numeric_limits<std::size_t>::max();
};

struct FlameLayout {
  /// A box comes before the boxes on top of it, and these before its right neighbour.
  std::vector<FlameBox> boxes;
  std::int64_t total = 0;      ///< of the root
  std::uint32_t levels = 0;    ///< number of depths that have boxes
  std::size_t too_narrow = 0;  ///< nodes with weight but without a box
};

/// The largest of some weights, at most a number of them: those above `least`, and of those that
/// are `least` the ones up to `last`, by their place.
struct LargestWeights {
  std::int64_t least = 0;
  std::size_t last = 0;

  bool contains(std::int64_t weight, std::size_t place) const {
    return weight > least || (weight == least && place <= last);
  }
};

/// Of the weights from `lowest` on, which is at least 1.
LargestWeights largest_weights(std::span<const std::int64_t> weights, std::size_t number,
                               std::int64_t lowest);

FlameLayout flame_graph_layout(const StackTree& stacks, const FlameLayoutOptions& options = {});

}  // namespace tbtrace::writers
