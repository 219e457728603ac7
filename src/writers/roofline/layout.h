// Where everything in a roofline picture is: axes, roofs, dots and labels.
// A plain value that refers to the roofline. Lengths are in px from the top left.
#pragma once

#include <string>
#include <vector>

#include <tbtrace/flops.h>

namespace tbtrace::writers {

struct RooflineSize {
  double left = 0;  ///< the plot's edges
  double top = 0;
  double right = 0;
  double bottom = 0;
  double column = 7.25;  ///< width of a character of a label
  double line = 15;      ///< height of a label
};

struct RooflineTick {
  double at = 0;     ///< px on the axis
  std::string text;  ///< `1 k`; empty: no label
};

struct RooflineRoof {
  std::string text;    ///< `tf32 156 TFLOP/s`
  double ridge_x = 0;  ///< where the memory's line meets the peak
  double y = 0;
  double text_y = 0;  ///< baseline
};

struct RooflineDot {
  const RooflinePoint* point = nullptr;
  double x = 0;
  double y = 0;
  double radius = 0;
  std::string label;  ///< empty: no room
  double label_x = 0;
  double label_y = 0;  ///< baseline
};

struct RooflineLayout {
  std::vector<RooflineTick> x_ticks;
  std::vector<RooflineTick> y_ticks;
  std::vector<RooflineRoof> roofs;  ///< highest first
  bool has_memory = false;          ///< the memory's line, between these points
  double memory_x1 = 0;
  double memory_y1 = 0;
  double memory_x2 = 0;
  double memory_y2 = 0;
  double memory_label_x = 0;  ///< start of its baseline, below the line
  double memory_label_y = 0;
  std::vector<RooflineDot> dots;  ///< largest first
};

RooflineLayout roofline_layout(const Roofline& roofline, const RooflineSize& size);

}  // namespace tbtrace::writers
