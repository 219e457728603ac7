#include "writers/events/png.h"

#include <cstddef>
#include <cstdint>

namespace tbtrace::writers {
namespace {

std::uint32_t big_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

}  // namespace

std::optional<PngSize> png_size(std::string_view file) {
  constexpr std::string_view kSignature = "\x89PNG\r\n\x1a\n";
  constexpr std::size_t kWidthAt = 16;  // after the chunk's length and name
  constexpr std::uint32_t kMost = 0x7fffffff;
  if (file.size() < kWidthAt + 8 || !file.starts_with(kSignature) || file.substr(12, 4) != "IHDR")
    return std::nullopt;
  const std::uint32_t width = big_endian(file.substr(kWidthAt, 4));
  const std::uint32_t height = big_endian(file.substr(kWidthAt + 4, 4));
  if (width == 0 || height == 0 || width > kMost || height > kMost) return std::nullopt;
  return PngSize{static_cast<int>(width), static_cast<int>(height)};
}

}  // namespace tbtrace::writers
