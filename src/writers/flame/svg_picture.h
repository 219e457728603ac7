// A flame graph as one SVG, whatever its boxes mean: header, legend, boxes, controls and script.
// Pure; any number of threads may draw. Texts are hostile: they are escaped here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "writers/flame/layout.h"

namespace tbtrace::writers {

/// In px.
inline constexpr int kLeastSvgWidth = 200;
inline constexpr int kMostSvgWidth = 100'000;
inline constexpr int kUsualSvgWidth = 1200;
inline constexpr int kSvgMargin = 10;

/// Boxes in the whole width of a picture.
inline constexpr int inner_svg_width(int width) { return width - 2 * kSvgMargin; }

/// What boxes of a kind look like.
struct SvgSwatch {
  std::string_view label;  ///< ASCII
  std::string color;       ///< `#rrggbb`
  std::string_view pattern = {};
};

/// A pattern of svg_pattern_definitions() that is drawn over a box; empty: none.
inline constexpr std::string_view kGonePattern = "gone";
inline constexpr std::string_view kAddedPattern = "added";

/// What a picture says of its boxes.
class SvgContent {
 public:
  SvgContent() = default;
  SvgContent(const SvgContent&) = delete;
  SvgContent& operator=(const SvgContent&) = delete;
  virtual ~SvgContent() = default;

  virtual std::vector<std::string> notes() const = 0;  ///< lines below the title
  virtual std::vector<SvgSwatch> legend() const = 0;
  virtual std::string color(const FlameBox& box) const = 0;
  virtual std::string_view pattern(const FlameBox&) const { return {}; }
  /// Before its label, ASCII.
  virtual std::string_view sign(const FlameBox&) const { return {}; }
  virtual std::string figures(const FlameBox& box) const = 0;
  /// What the script reads, as the text of an XML element: data.h.
  virtual void append_data(std::string& xml) const = 0;
};

struct SvgLook {
  std::string_view title;
  std::optional<int> width = {};  ///< without it, it fits the window
  bool inverted = false;
};

/// `layout` is that of boxes in inner_svg_width() px.
std::string svg_picture(const FlameLayout& layout, const SvgLook& look, const SvgContent& content);

/// The message for a width out of range; empty if it is within.
std::string wrong_svg_width(int width);

}  // namespace tbtrace::writers
