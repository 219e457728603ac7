#include "writers/pictures/cairo_library.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <type_traits>

#include <dlfcn.h>

#include "base/available_memory.h"

namespace tbtrace::writers {
namespace {

constexpr const char* kName = "libcairo.so.2";
constexpr std::size_t kMemory = std::size_t{16} << 20;  // twice what cairo's libraries take

Status missing(const std::string& problem) {
  return {StatusCode::invalid_argument,
          problem + "; install cairo (on Debian `apt-get install libcairo2`)"};
}

Result<CairoLibrary> read_functions(void* handle, const std::string& name) {
  CairoLibrary cairo;
  std::string missing_function;
  const auto required = [&](auto& function, const char* function_name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(::dlsym(handle, function_name));
    if (function == nullptr && missing_function.empty()) missing_function = function_name;
  };
  required(cairo.status_to_string, "cairo_status_to_string");
  required(cairo.matrix_init_scale, "cairo_matrix_init_scale");
  required(cairo.image_surface_create, "cairo_image_surface_create");
  required(cairo.surface_flush, "cairo_surface_flush");
  required(cairo.surface_write_to_png_stream, "cairo_surface_write_to_png_stream");
  required(cairo.surface_destroy, "cairo_surface_destroy");
  required(cairo.toy_font_face_create, "cairo_toy_font_face_create");
  required(cairo.font_face_destroy, "cairo_font_face_destroy");
  required(cairo.font_options_create, "cairo_font_options_create");
  required(cairo.font_options_set_antialias, "cairo_font_options_set_antialias");
  required(cairo.font_options_set_hint_style, "cairo_font_options_set_hint_style");
  required(cairo.font_options_set_hint_metrics, "cairo_font_options_set_hint_metrics");
  required(cairo.font_options_destroy, "cairo_font_options_destroy");
  required(cairo.scaled_font_create, "cairo_scaled_font_create");
  required(cairo.scaled_font_status, "cairo_scaled_font_status");
  required(cairo.scaled_font_extents, "cairo_scaled_font_extents");
  required(cairo.scaled_font_text_extents, "cairo_scaled_font_text_extents");
  required(cairo.scaled_font_destroy, "cairo_scaled_font_destroy");
  required(cairo.create, "cairo_create");
  required(cairo.status, "cairo_status");
  required(cairo.scale, "cairo_scale");
  required(cairo.save, "cairo_save");
  required(cairo.restore, "cairo_restore");
  required(cairo.set_source_rgb, "cairo_set_source_rgb");
  required(cairo.paint, "cairo_paint");
  required(cairo.rectangle, "cairo_rectangle");
  required(cairo.fill, "cairo_fill");
  required(cairo.clip, "cairo_clip");
  required(cairo.set_scaled_font, "cairo_set_scaled_font");
  required(cairo.move_to, "cairo_move_to");
  required(cairo.show_text, "cairo_show_text");
  required(cairo.destroy, "cairo_destroy");
  if (!missing_function.empty()) {
    return missing(name + " on this machine has no function " + missing_function);
  }
  return cairo;
}

}  // namespace

Result<CairoLibrary> open_cairo(const std::string& name) {
  if (is_static_program()) {
    return Status(StatusCode::invalid_argument,
                  "this tbtrace is linked statically, so it cannot load " + name +
                      "; write SVG, or use the Python package or a build from source");
  }
  if (!is_there_memory(kMemory)) return out_of_memory();
  if (void* const handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    return read_functions(handle, name);
  }
  const char* const error = ::dlerror();
  const std::string why = error == nullptr ? "unknown error" : error;
  // Other threads may have taken the memory.
  if (!is_there_memory(kMemory)) return out_of_memory();
  // Errors begin with the path of the file that has them, with a bare name if no folder has it.
  if (why.starts_with(name + ":")) return missing(name + " is not on this machine");
  return missing(name + " cannot be loaded (" + why + ")");
}

Result<const CairoLibrary*> cairo_library() {
  static std::atomic<const CairoLibrary*> opened = nullptr;  // never deleted: see the header
  if (const CairoLibrary* const cairo = opened.load()) return cairo;
  const Result<CairoLibrary> found = open_cairo(kName);
  if (!found.ok()) return found.status();
  auto made = std::make_unique<const CairoLibrary>(*found);
  const CairoLibrary* first = nullptr;  // of another thread
  if (opened.compare_exchange_strong(first, made.get())) first = made.release();
  return first;
}

}  // namespace tbtrace::writers
