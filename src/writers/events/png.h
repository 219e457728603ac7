// PNG files (W3C, Portable Network Graphics), by libpng.
// Pure functions, any thread. Bytes that are not a PNG file give no result.
// png_file() has two implementations: with libpng, and, if that is not installed, one that always
// fails.
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

/// The size in the file's first chunk; nullopt if the bytes do not begin like a PNG file.
std::optional<PngSize> png_size(std::string_view file);

/// Whether this build has libpng.
bool has_png_files();

/// Fails if the size and the number of samples do not match.
Result<std::string> png_file(const Pixels& pixels);

}  // namespace tbtrace::writers
