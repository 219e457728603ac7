// The positions of the boxes of a flame graph, in units of weight, independent of drawing.
// The layout refers to frame texts of its tree, which must outlive it.
// Pure functions; any number of threads may call them on one tree while none changes it.
// Accepts any tree, however deep. A tree without weight has no boxes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <tbtrace/report.h>

namespace tbtrace::writers {

struct FlameBox {
  std::uint32_t depth = 0;  ///< 0: the root
  std::int64_t start = 0;   ///< weight to the left of the box
  std::int64_t total = 0;   ///< weight of the frame and all above it: the width
  std::int64_t self = 0;    ///< weight of the frame alone
  std::string_view frame;   ///< `all` for the root
};

struct FlameLayoutOptions {
  double width_px = 1200;     ///< of the root
  double narrowest_px = 0.1;  ///< boxes below this width are left out
};

struct FlameLayout {
  /// A box comes before the boxes on top of it, and these before its right neighbour. Neighbours
  /// are sorted by the bytes of their texts.
  std::vector<FlameBox> boxes;
  std::int64_t total = 0;      ///< of the root
  std::uint32_t levels = 0;    ///< number of depths that have boxes
  std::size_t too_narrow = 0;  ///< nodes with weight but without a box
};

FlameLayout flame_graph_layout(const StackTree& stacks, const FlameLayoutOptions& options = {});

}  // namespace tbtrace::writers
