// Pictures as PNG files (W3C, Portable Network Graphics), by libpng.
// Pure functions, any thread. A file that is not a PNG file gives nothing.
// png_file() has two implementations: with libpng, and one that only fails where that is not
// installed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tbtrace/status.h>
#include <tbtrace/summary_writer.h>

namespace tbtrace::writers {

struct PngSize {
  int width = 0;
  int height = 0;
};

/// What the file's first chunk says; nothing if the bytes do not begin as a PNG file does.
std::optional<PngSize> png_size(std::string_view file);

/// This build has libpng.
bool has_png_files();

/// A failure where sizes and samples do not belong together.
Result<std::string> png_file(const Pixels& pixels);

}  // namespace tbtrace::writers
