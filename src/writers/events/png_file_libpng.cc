#include "writers/events/png.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include <png.h>

namespace tbtrace::writers {
namespace {

constexpr std::array<png_uint_32, 5> kFormats = {0, PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB,
                                                 PNG_FORMAT_RGBA};

Status failure(const std::string& what) { return {StatusCode::invalid_argument, what}; }

}  // namespace

bool has_png_files() { return true; }

Result<std::string> png_file(const Pixels& pixels) {
  if (pixels.channels < 1 || pixels.channels > 4)
    return failure("a picture has 1 to 4 channels, not " + std::to_string(pixels.channels));
  if (pixels.width < 1 || pixels.height < 1) return failure("a picture has at least one pixel");
  const auto row =
      static_cast<std::uint64_t>(pixels.width) * static_cast<std::uint64_t>(pixels.channels);
  if (pixels.samples.size() / row != static_cast<std::uint64_t>(pixels.height) ||
      pixels.samples.size() % row != 0) {
    return failure("a picture of these sizes has " + std::to_string(pixels.height) + " times " +
                   std::to_string(row) + " samples, not " + std::to_string(pixels.samples.size()));
  }
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<png_uint_32>(pixels.width);
  image.height = static_cast<png_uint_32>(pixels.height);
  image.format = kFormats[static_cast<std::size_t>(pixels.channels)];
  png_alloc_size_t size = 0;
  const auto write = [&](void* memory) {
    return png_image_write_to_memory(&image, memory, &size, /*convert_to_8bit=*/0,
                                     pixels.samples.data(), /*row_stride=*/0,
                                     /*colormap=*/nullptr) != 0;
  };
  size = PNG_IMAGE_PNG_SIZE_MAX(image);
  std::string file(size, '\0');
  if (!write(file.data())) return failure(std::string("libpng: ") + image.message);
  file.resize(size);
  return file;
}

}  // namespace tbtrace::writers
