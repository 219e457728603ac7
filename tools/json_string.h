// Texts as JSON, for the few members that commands add to documents.
#pragma once

#include <string>
#include <string_view>

namespace tbtrace::tools {

/// With quotes. What is not ASCII becomes question marks.
inline std::string json_string(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20) {
      quoted += std::string("\\u00") + kDigits[byte >> 4U] + kDigits[byte & 15U];
    } else {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += byte < 0x80 ? c : '?';
    }
  }
  return quoted + '"';
}

}  // namespace tbtrace::tools
