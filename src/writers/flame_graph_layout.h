// Where the boxes of a flame graph are: geometry in units of weight, nothing about drawing.
// The layout views frame texts of the tree that it was made of, which must outlive it.
// Pure functions; any number of threads may call them on one tree that nobody changes.
// Any tree will do, however deep. A tree without weight has no boxes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <tbtrace/report.h>

namespace tbtrace::writers {

struct FlameBox {
  std::uint32_t depth = 0;  ///< 0: the root
  std::int64_t start = 0;   ///< the weight to the left of it
  std::int64_t total = 0;   ///< the weight of it and all above; its width
  std::int64_t self = 0;    ///< the weight of it alone
  std::string_view frame;   ///< `all` for the root
};

struct FlameLayoutOptions {
  double width_px = 1200;     ///< of the root
  double narrowest_px = 0.1;  ///< boxes below this width are left out
};

struct FlameLayout {
  /// A box comes before the boxes on it, and these before its neighbour to the right. Neighbours
  /// are in order of their texts' bytes.
  std::vector<FlameBox> boxes;
  std::int64_t total = 0;      ///< of the root
  std::uint32_t levels = 0;    ///< number of depths that have boxes
  std::size_t too_narrow = 0;  ///< nodes that have weight and no box
};

FlameLayout flame_graph_layout(const StackTree& stacks, const FlameLayoutOptions& options = {});

}  // namespace tbtrace::writers
