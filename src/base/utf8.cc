#include "base/utf8.h"

#include <simdjson.h>

namespace tbtrace {
namespace {

std::size_t step(std::string_view text) {
  const std::size_t size = utf8_character_size(text);
  return size == 0 ? 1 : size;
}

}  // namespace

std::size_t utf8_character_size(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  std::size_t size;
  unsigned char low = 0x80;   // bounds of the second byte; they exclude overlong forms, surrogates
  unsigned char high = 0xbf;  // and values above U+10FFFF
  if (lead >= 0xc2 && lead <= 0xdf) {
    size = 2;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    size = 3;
    if (lead == 0xe0) low = 0xa0;
    if (lead == 0xed) high = 0x9f;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    size = 4;
    if (lead == 0xf0) low = 0x90;
    if (lead == 0xf4) high = 0x8f;
  } else {
    return 0;
  }
  if (text.size() < size || byte(1) < low || byte(1) > high) return 0;
  for (std::size_t at = 2; at < size; ++at) {
    if ((byte(at) & 0xc0) != 0x80) return 0;
  }
  return size;
}

bool is_utf8(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }

std::size_t utf8_length(std::string_view text) {
  std::size_t count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(step(text));
  return count;
}

std::string_view utf8_prefix(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  for (; count > 0 && at < text.size(); --count) at += step(text.substr(at));
  return text.substr(0, at);
}

std::string utf8_shortened(std::string_view text, std::size_t count) {
  const std::string_view begin = utf8_prefix(text, count);
  return std::string(begin) + (begin.size() < text.size() ? "..." : "");
}

std::string to_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t size = utf8_character_size(bytes);
    if (size == 0) {
      append_utf8(text, 0xfffd);
    } else {
      text.append(bytes.substr(0, size));
    }
    bytes.remove_prefix(size == 0 ? 1 : size);
  }
  return text;
}

void append_utf8(std::string& text, char32_t code_point) {
  const auto put = [&](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  const auto tail = [&](int shift) { put(0x80 | ((code_point >> shift) & 0x3f)); };
  if ((code_point >= 0xd800 && code_point <= 0xdfff) || code_point > 0x10ffff) code_point = 0xfffd;
  if (code_point < 0x80) {
    put(code_point);
  } else if (code_point < 0x800) {
    put(0xc0 | code_point >> 6);
    tail(0);
  } else if (code_point < 0x10000) {
    put(0xe0 | code_point >> 12);
    tail(6);
    tail(0);
  } else {
    put(0xf0 | code_point >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace tbtrace
