// Draws with cairo's image surface and its "toy" text API: one font for all text, found by
// fontconfig, one glyph per character. If there is no font at all, cairo has built-in strokes for
// ASCII.
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>

#include <cairo.h>
#include <fmt/format.h>

#include "base/available_memory.h"
#include "writers/pictures/cairo_library.h"
#include "writers/pictures/canvas.h"
#include "writers/pictures/picture_text.h"

namespace tbtrace::writers {
namespace {

/// With the function of cairo that releases it.
template <typename T>
using Owned = std::unique_ptr<T, void (*)(T*)>;

constexpr const char* kFamily = "DejaVu Sans";  // if missing, fontconfig takes the nearest

Status failure(const CairoLibrary& cairo, std::string_view what, cairo_status_t status) {
  const bool no_memory = status == CAIRO_STATUS_NO_MEMORY;
  const char* const remedy = no_memory || status == CAIRO_STATUS_INVALID_SIZE
                                 ? "ask for a smaller width or scale"
                                 : "write an SVG instead";
  return {no_memory ? StatusCode::out_of_memory : StatusCode::unwritable_output,
          fmt::format("{}: {}; {}", what, cairo.status_to_string(status), remedy)};
}

/// A font at a size, with cached advances of single-byte characters.
class PenFont {
 public:
  PenFont(const CairoLibrary& cairo, double size, cairo_font_weight_t weight, int scale)
      : cairo_(cairo), font_(nullptr, cairo.scaled_font_destroy) {
    const Owned<cairo_font_face_t> face(
        cairo.toy_font_face_create(kFamily, CAIRO_FONT_SLANT_NORMAL, weight),
        cairo.font_face_destroy);
    // Do not use the machine's font options, which may colour the edges of letters for its screen.
    const Owned<cairo_font_options_t> options(cairo.font_options_create(),
                                              cairo.font_options_destroy);
    cairo.font_options_set_antialias(options.get(), CAIRO_ANTIALIAS_GRAY);
    cairo.font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_SLIGHT);
    cairo.font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_ON);
    cairo_matrix_t to_px;
    cairo_matrix_t to_pixels;
    cairo.matrix_init_scale(&to_px, size, size);
    cairo.matrix_init_scale(&to_pixels, scale, scale);
    font_.reset(cairo.scaled_font_create(face.get(), &to_px, &to_pixels, options.get()));
    cairo.scaled_font_extents(font_.get(), &extents_);
    advances_.fill(-1);
  }

  cairo_scaled_font_t* get() const { return font_.get(); }
  cairo_status_t status() const { return cairo_.scaled_font_status(font_.get()); }
  double ascent() const { return extents_.ascent; }
  double descent() const { return extents_.descent; }

  double advance(std::string_view character) {
    if (character.size() > 1) return measured(character);
    double& known = advances_[static_cast<unsigned char>(character[0]) & 0x7f];
    if (known < 0) known = measured(character);
    return known;
  }

 private:
  double measured(std::string_view character) const {
    std::array<char, 5> text = {};
    character.copy(text.data(), text.size() - 1);
    cairo_text_extents_t extents = {};
    cairo_.scaled_font_text_extents(font_.get(), text.data(), &extents);
    return extents.x_advance;
  }

  const CairoLibrary& cairo_;
  Owned<cairo_scaled_font_t> font_;
  cairo_font_extents_t extents_ = {};
  std::array<double, 128> advances_ = {};
};

cairo_status_t append(void* bytes, const unsigned char* data, unsigned int size) {
  try {
    static_cast<std::string*>(bytes)->append(reinterpret_cast<const char*>(data), size);
  } catch (const std::exception&) {  // called from C, which exceptions must not cross
    return CAIRO_STATUS_NO_MEMORY;
  }
  return CAIRO_STATUS_SUCCESS;
}

class CairoCanvas final : public Canvas {
 public:
  CairoCanvas(const CairoLibrary& cairo, int width, int height, int scale)
      : cairo_(cairo),
        scale_(scale),
        surface_(cairo.image_surface_create(CAIRO_FORMAT_RGB24, width * scale, height * scale),
                 cairo.surface_destroy),
        context_(cairo.create(surface_.get()), cairo.destroy),
        fonts_{PenFont(cairo, 12, CAIRO_FONT_WEIGHT_NORMAL, scale),
               PenFont(cairo, 17, CAIRO_FONT_WEIGHT_BOLD, scale)} {
    cairo.scale(context_.get(), scale, scale);
    cairo.set_source_rgb(context_.get(), 1, 1, 1);
    cairo.paint(context_.get());
  }

  cairo_status_t status() const {
    for (const PenFont& font : fonts_) {
      if (font.status() != CAIRO_STATUS_SUCCESS) return font.status();
    }
    return cairo_.status(context_.get());  // includes the surface's status
  }

  void fill(const CanvasBox& box, std::string_view color) override {
    set_color(color);
    cairo_.rectangle(context_.get(), box.x, box.y, box.width, box.height);
    cairo_.fill(context_.get());
  }

  double text(std::string_view text, const CanvasBox& box, CanvasFont font,
              std::string_view color) override {
    PenFont& pen = fonts_[static_cast<std::size_t>(font)];
    const std::string shown =
        fitted_text(text, box.width, [&](std::string_view each) { return pen.advance(each); });
    if (shown.empty()) return 0;
    const double foot = box.y + (box.height + pen.ascent() - pen.descent()) / 2;
    cairo_.save(context_.get());
    cairo_.rectangle(context_.get(), box.x, box.y, box.width, box.height);
    cairo_.clip(context_.get());
    cairo_.set_scaled_font(context_.get(), pen.get());
    set_color(color);
    // On a whole pixel, moved up rather than down: strokes below the baseline are thin.
    cairo_.move_to(context_.get(), box.x, std::floor(foot * scale_) / scale_);
    cairo_.show_text(context_.get(), shown.c_str());
    cairo_.restore(context_.get());
    return text_width(shown, font);
  }

  double text_width(std::string_view text, CanvasFont font) override {
    PenFont& pen = fonts_[static_cast<std::size_t>(font)];
    double width = 0;
    while (!text.empty()) {
      const auto [character, size] = first_drawn_character(text);
      width += pen.advance(character);
      text.remove_prefix(size);
    }
    return width;
  }

  Result<std::string> png() override {
    std::string bytes;
    cairo_status_t result = status();
    if (result == CAIRO_STATUS_SUCCESS) {
      cairo_.surface_flush(surface_.get());
      result = cairo_.surface_write_to_png_stream(surface_.get(), append, &bytes);
    }
    if (result != CAIRO_STATUS_SUCCESS) return failure(cairo_, "cannot draw the picture", result);
    return bytes;
  }

 private:
  void set_color(std::string_view color) {
    std::uint32_t rgb = 0;
    std::from_chars(color.data() + 1, color.data() + color.size(), rgb, 16);
    const auto part = [&](int shift) { return static_cast<double>((rgb >> shift) & 0xff) / 255; };
    cairo_.set_source_rgb(context_.get(), part(16), part(8), part(0));
  }

  const CairoLibrary& cairo_;
  int scale_;
  Owned<cairo_surface_t> surface_;
  Owned<cairo_t> context_;
  std::array<PenFont, 2> fonts_;  // by CanvasFont
};

}  // namespace

bool knows_cairo() { return true; }

Status can_draw() { return cairo_library().status(); }

Result<std::unique_ptr<Canvas>> make_canvas(int width, int height, int scale) {
  const Result<const CairoLibrary*> cairo = cairo_library();
  if (!cairo.ok()) {
    if (cairo.status().code() == StatusCode::out_of_memory) return cairo.status();
    return Status(cairo.status().code(), "cannot draw the picture: " + cairo.status().message() +
                                             ", or write an SVG instead");
  }
  constexpr std::size_t kFonts = std::size_t{16} << 20;  // more than fontconfig and FreeType need
  constexpr std::size_t kPixel = 4;
  const auto pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(scale) *
                      static_cast<std::size_t>(height) * static_cast<std::size_t>(scale);
  cairo_status_t status = CAIRO_STATUS_NO_MEMORY;
  std::unique_ptr<CairoCanvas> canvas;
  if (is_there_memory(kFonts + kPixel * pixels)) {
    canvas = std::make_unique<CairoCanvas>(**cairo, width, height, scale);
    status = canvas->status();
  }
  if (status != CAIRO_STATUS_SUCCESS) {
    return failure(**cairo,
                   fmt::format("there is no picture of {} x {} px", width * scale, height * scale),
                   status);
  }
  return Result<std::unique_ptr<Canvas>>(std::move(canvas));
}

}  // namespace tbtrace::writers
