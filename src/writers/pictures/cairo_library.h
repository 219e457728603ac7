// cairo's functions that pictures need. The library is opened at run time, so that programs neither
// link cairo nor carry it and the X11 libraries that it needs.
// Never unloaded, since it keeps fonts and locks for the life of the process. Immutable, so any
// thread may use it.
#pragma once

#include <string>

#include <cairo.h>

#include <tbtrace/status.h>

namespace tbtrace::writers {

/// Each function is there.
struct CairoLibrary {
  decltype(&cairo_status_to_string) status_to_string = nullptr;
  decltype(&cairo_matrix_init_scale) matrix_init_scale = nullptr;

  decltype(&cairo_image_surface_create) image_surface_create = nullptr;
  decltype(&cairo_surface_flush) surface_flush = nullptr;
  decltype(&cairo_surface_write_to_png_stream) surface_write_to_png_stream = nullptr;
  decltype(&cairo_surface_destroy) surface_destroy = nullptr;

  decltype(&cairo_toy_font_face_create) toy_font_face_create = nullptr;
  decltype(&cairo_font_face_destroy) font_face_destroy = nullptr;
  decltype(&cairo_font_options_create) font_options_create = nullptr;
  decltype(&cairo_font_options_set_antialias) font_options_set_antialias = nullptr;
  decltype(&cairo_font_options_set_hint_style) font_options_set_hint_style = nullptr;
  decltype(&cairo_font_options_set_hint_metrics) font_options_set_hint_metrics = nullptr;
  decltype(&cairo_font_options_destroy) font_options_destroy = nullptr;
  decltype(&cairo_scaled_font_create) scaled_font_create = nullptr;
  decltype(&cairo_scaled_font_status) scaled_font_status = nullptr;
  decltype(&cairo_scaled_font_extents) scaled_font_extents = nullptr;
  decltype(&cairo_scaled_font_text_extents) scaled_font_text_extents = nullptr;
  decltype(&cairo_scaled_font_destroy) scaled_font_destroy = nullptr;

  decltype(&cairo_create) create = nullptr;
  decltype(&cairo_status) status = nullptr;
  decltype(&cairo_scale) scale = nullptr;
  decltype(&cairo_save) save = nullptr;
  decltype(&cairo_restore) restore = nullptr;
  decltype(&cairo_set_source_rgb) set_source_rgb = nullptr;
  decltype(&cairo_paint) paint = nullptr;
  decltype(&cairo_rectangle) rectangle = nullptr;
  decltype(&cairo_fill) fill = nullptr;
  decltype(&cairo_clip) clip = nullptr;
  decltype(&cairo_set_scaled_font) set_scaled_font = nullptr;
  decltype(&cairo_move_to) move_to = nullptr;
  decltype(&cairo_show_text) show_text = nullptr;
  decltype(&cairo_destroy) destroy = nullptr;
};

/// Opens a library by its file name. Fails with the code out_of_memory, or with invalid_argument
/// and a sentence: `libcairo.so.2 is not on this machine; install cairo (...)`.
Result<CairoLibrary> open_cairo(const std::string& name);

/// libcairo.so.2, opened by the first call that succeeds. Takes no lock of its own, so a child of a
/// fork can call it.
Result<const CairoLibrary*> cairo_library();

}  // namespace tbtrace::writers
