// An in-memory picture for drawing boxes and lines of text, written as PNG.
// Owns its pixels and fonts. One thread at a time; several threads may each have one.
// Any bytes are accepted as text. After a drawing failure further calls do nothing; png() reports
// it.
// Two implementations: with cairo, which is opened at run time, and one for builds without cairo's
// headers, which always fails.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <tbtrace/status.h>

namespace tbtrace::writers {

/// In px from the upper left corner; a canvas may have several pixels per px.
struct CanvasBox {
  double x, y, width, height;
};

enum class CanvasFont : unsigned char { plain, heading };

class Canvas {
 public:
  virtual ~Canvas() = default;

  /// `color`: `#rrggbb`.
  virtual void fill(const CanvasBox& box, std::string_view color) = 0;

  /// Draws one line of text, left-aligned and vertically centred in a box, cut with an ellipsis and
  /// never outside the box. Returns the width that it took, 0 if nothing fits.
  virtual double text(std::string_view text, const CanvasBox& box, CanvasFont font,
                      std::string_view color) = 0;

  /// The width of the whole text.
  virtual double text_width(std::string_view text, CanvasFont font) = 0;

  /// The picture as drawn so far.
  virtual Result<std::string> png() = 0;
};

/// Whether this was built with cairo's headers.
bool knows_cairo();

/// Whether cairo can be used. If not: what is missing and what to install; out_of_memory if there
/// is too little to open it.
Status can_draw();

/// A white canvas of `width` x `height` px, with `scale` pixels per px in both directions.
Result<std::unique_ptr<Canvas>> make_canvas(int width, int height, int scale);

}  // namespace tbtrace::writers
