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
#include <sys/mman.h>

#include "writers/canvas.h"
#include "writers/picture_text.h"

namespace tbtrace::writers {
namespace {

template <auto kRelease>
struct Releaser {
  template <typename T>
  void operator()(T* object) const {
    kRelease(object);
  }
};
using Surface = std::unique_ptr<cairo_surface_t, Releaser<cairo_surface_destroy>>;
using Context = std::unique_ptr<cairo_t, Releaser<cairo_destroy>>;
using Face = std::unique_ptr<cairo_font_face_t, Releaser<cairo_font_face_destroy>>;
using Options = std::unique_ptr<cairo_font_options_t, Releaser<cairo_font_options_destroy>>;
using ScaledFont = std::unique_ptr<cairo_scaled_font_t, Releaser<cairo_scaled_font_destroy>>;

constexpr const char* kFamily = "DejaVu Sans";  // if missing, fontconfig takes the nearest

Status failure(std::string_view what, cairo_status_t status) {
  const bool no_memory = status == CAIRO_STATUS_NO_MEMORY;
  const char* const remedy = no_memory || status == CAIRO_STATUS_INVALID_SIZE
                                 ? "ask for a smaller width or scale"
                                 : "write an SVG instead";
  return {no_memory ? StatusCode::out_of_memory : StatusCode::unwritable_output,
          fmt::format("{}: {}; {}", what, cairo_status_to_string(status), remedy)};
}

/// Whether this much memory is available. Without memory, fontconfig crashes or finds no font.
bool is_there_memory(std::size_t bytes) {
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  ::munmap(memory, bytes);
  return true;
}

/// A font at a size, with cached advances of single-byte characters.
class PenFont {
 public:
  PenFont(double size, cairo_font_weight_t weight, int scale) {
    const Face face(cairo_toy_font_face_create(kFamily, CAIRO_FONT_SLANT_NORMAL, weight));
    // Do not use the machine's font options, which may colour the edges of letters for its screen.
    const Options options(cairo_font_options_create());
    cairo_font_options_set_antialias(options.get(), CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_SLIGHT);
    cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_ON);
    cairo_matrix_t to_px;
    cairo_matrix_t to_pixels;
    cairo_matrix_init_scale(&to_px, size, size);
    cairo_matrix_init_scale(&to_pixels, scale, scale);
    font_.reset(cairo_scaled_font_create(face.get(), &to_px, &to_pixels, options.get()));
    cairo_scaled_font_extents(font_.get(), &extents_);
    advances_.fill(-1);
  }

  cairo_scaled_font_t* get() const { return font_.get(); }
  cairo_status_t status() const { return cairo_scaled_font_status(font_.get()); }
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
    cairo_scaled_font_text_extents(font_.get(), text.data(), &extents);
    return extents.x_advance;
  }

  ScaledFont font_;
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
  CairoCanvas(int width, int height, int scale)
      : scale_(scale),
        surface_(cairo_image_surface_create(CAIRO_FORMAT_RGB24, width * scale, height * scale)),
        context_(cairo_create(surface_.get())),
        fonts_{PenFont(12, CAIRO_FONT_WEIGHT_NORMAL, scale),
               PenFont(17, CAIRO_FONT_WEIGHT_BOLD, scale)} {
    cairo_scale(context_.get(), scale, scale);
    cairo_set_source_rgb(context_.get(), 1, 1, 1);
    cairo_paint(context_.get());
  }

  cairo_status_t status() const {
    for (const PenFont& font : fonts_) {
      if (font.status() != CAIRO_STATUS_SUCCESS) return font.status();
    }
    return cairo_status(context_.get());  // includes the surface's status
  }

  void fill(const CanvasBox& box, std::string_view color) override {
    set_color(color);
    cairo_rectangle(context_.get(), box.x, box.y, box.width, box.height);
    cairo_fill(context_.get());
  }

  double text(std::string_view text, const CanvasBox& box, CanvasFont font,
              std::string_view color) override {
    PenFont& pen = fonts_[static_cast<std::size_t>(font)];
    const std::string shown =
        fitted_text(text, box.width, [&](std::string_view each) { return pen.advance(each); });
    if (shown.empty()) return 0;
    const double foot = box.y + (box.height + pen.ascent() - pen.descent()) / 2;
    cairo_save(context_.get());
    cairo_rectangle(context_.get(), box.x, box.y, box.width, box.height);
    cairo_clip(context_.get());
    cairo_set_scaled_font(context_.get(), pen.get());
    set_color(color);
    // On a whole pixel, moved up rather than down: strokes below the baseline are thin.
    cairo_move_to(context_.get(), box.x, std::floor(foot * scale_) / scale_);
    cairo_show_text(context_.get(), shown.c_str());
    cairo_restore(context_.get());
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
      cairo_surface_flush(surface_.get());
      result = cairo_surface_write_to_png_stream(surface_.get(), append, &bytes);
    }
    if (result != CAIRO_STATUS_SUCCESS) return failure("cannot draw the picture", result);
    return bytes;
  }

 private:
  void set_color(std::string_view color) {
    std::uint32_t rgb = 0;
    std::from_chars(color.data() + 1, color.data() + color.size(), rgb, 16);
    const auto part = [&](int shift) { return static_cast<double>((rgb >> shift) & 0xff) / 255; };
    cairo_set_source_rgb(context_.get(), part(16), part(8), part(0));
  }

  int scale_;
  Surface surface_;
  Context context_;
  std::array<PenFont, 2> fonts_;  // by CanvasFont
};

}  // namespace

bool has_canvas() { return true; }

Result<std::unique_ptr<Canvas>> make_canvas(int width, int height, int scale) {
  constexpr std::size_t kFonts = std::size_t{16} << 20;  // more than fontconfig and FreeType need
  constexpr std::size_t kPixel = 4;
  const auto pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(scale) *
                      static_cast<std::size_t>(height) * static_cast<std::size_t>(scale);
  cairo_status_t status = CAIRO_STATUS_NO_MEMORY;
  std::unique_ptr<CairoCanvas> canvas;
  if (is_there_memory(kFonts + kPixel * pixels)) {
    canvas = std::make_unique<CairoCanvas>(width, height, scale);
    status = canvas->status();
  }
  if (status != CAIRO_STATUS_SUCCESS) {
    return failure(fmt::format("there is no picture of {} x {} px", width * scale, height * scale),
                   status);
  }
  return Result<std::unique_ptr<Canvas>>(std::move(canvas));
}

}  // namespace tbtrace::writers
