// A picture in memory to draw boxes and lines of text on, and its bytes as PNG.
// Owns its pixels and fonts. One thread at a time; any number of threads may have one each.
// Any bytes are a text. What fails while drawing is told by png(), drawing after it does nothing.
// Two implementations: with cairo, and one that only fails where that is not installed.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <tbtrace/status.h>

namespace tbtrace::writers {

/// In px from the upper left corner; a canvas may have several pixels for each.
struct CanvasBox {
  double x, y, width, height;
};

enum class CanvasFont : unsigned char { plain, heading };

class Canvas {
 public:
  virtual ~Canvas() = default;

  /// `color`: `#rrggbb`.
  virtual void fill(const CanvasBox& box, std::string_view color) = 0;

  /// One line of text in the middle of the height of a box and at its left, cut with an ellipsis
  /// and never outside. Returns how much of the width it took, 0 if nothing fits.
  virtual double text(std::string_view text, const CanvasBox& box, CanvasFont font,
                      std::string_view color) = 0;

  /// How much of a width all of a text takes.
  virtual double text_width(std::string_view text, CanvasFont font) = 0;

  /// What is drawn so far.
  virtual Result<std::string> png() = 0;
};

/// This build has cairo.
bool has_canvas();

/// A white one of `width` x `height` px, with `scale` pixels for each in both directions.
Result<std::unique_ptr<Canvas>> make_canvas(int width, int height, int scale);

}  // namespace tbtrace::writers
