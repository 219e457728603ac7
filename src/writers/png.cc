#include "writers/png.h"

#include <array>
#include <cstdint>

#include <png.h>

namespace tbtrace::writers {
namespace {

constexpr std::array<png_uint_32, 5> kFormats = {0, PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB,
                                                 PNG_FORMAT_RGBA};

Status failure(const std::string& what) { return {StatusCode::invalid_argument, what}; }

std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

}  // namespace

std::optional<PngSize> png_size(std::string_view file) {
  constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";
  constexpr std::size_t kWidth = 16;  // behind the chunk's length and name
  constexpr std::uint32_t kMost = 0x7fffffff;
  if (file.size() < kWidth + 8 || !file.starts_with(kSignature) || file.substr(12, 4) != "IHDR")
    return std::nullopt;
  const std::uint32_t width = big_endian(file.substr(kWidth, 4));
  const std::uint32_t height = big_endian(file.substr(kWidth + 4, 4));
  if (width == 0 || height == 0 || width > kMost || height > kMost) return std::nullopt;
  return PngSize{static_cast<int>(width), static_cast<int>(height)};
}

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
