#include "wire/base64.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tbtrace {

void wire::append_base64(std::string& text, std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  text.reserve(text.size() + (bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t here = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t byte = 0; byte < 3; ++byte) {
      const auto next = byte < here ? static_cast<unsigned char>(bytes[at + byte]) : 0u;
      group = group << 8 | next;
    }
    for (std::size_t digit = 0; digit < 4; ++digit) {
      text += digit <= here ? kDigits[group >> (18 - 6 * digit) & 63] : '=';
    }
  }
}

}  // namespace tbtrace
