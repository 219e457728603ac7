#include "wire/json_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/characters.h"
#include "base/utf8.h"

namespace tbtrace::wire {
namespace {

std::optional<std::uint32_t> four_hex_digits(std::string_view text) {
  if (text.size() < 4) return std::nullopt;
  std::uint32_t value = 0;
  for (const char c : text.substr(0, 4)) {
    std::uint32_t digit;
    if (is_digit(c)) {
      digit = static_cast<std::uint32_t>(c - '0');
    } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
      digit = static_cast<std::uint32_t>((c | 0x20) - 'a') + 10;
    } else {
      return std::nullopt;
    }
    value = value << 4 | digit;
  }
  return value;
}

bool is_high_surrogate(std::uint32_t unit) { return unit >= 0xd800 && unit < 0xdc00; }
bool is_low_surrogate(std::uint32_t unit) { return unit >= 0xdc00 && unit < 0xe000; }

bool is_surrogate(std::uint32_t unit) { return unit >= 0xd800 && unit < 0xe000; }

/// `\uXXXX`, or two of them that form one character; `at` is at the first `u`.
Escapes append_unicode_escape(std::string& text, std::string_view content, std::size_t& at) {
  const auto unit = four_hex_digits(content.substr(at + 1));
  if (!unit) return Escapes::unknown;
  at += 5;
  char32_t code_point = *unit;
  if (is_high_surrogate(*unit) && content.substr(at).starts_with("\\u")) {
    const auto low = four_hex_digits(content.substr(at + 2));
    if (low && is_low_surrogate(*low)) {
      code_point = 0x10000 + ((*unit - 0xd800) << 10) + (*low - 0xdc00);
      at += 6;
    }
  }
  append_utf8(text, code_point);
  return is_surrogate(code_point) ? Escapes::unpaired : Escapes::valid;
}

void append_string(std::string& json, std::string_view text, bool in_html) {
  constexpr std::string_view kHex = "0123456789abcdef";
  json.push_back('"');
  while (!text.empty()) {
    const auto c = static_cast<unsigned char>(text[0]);
    std::size_t size = 1;
    if (c == '"' || c == '\\') {
      json.push_back('\\');
      json.push_back(text[0]);
    } else if (c == '\n') {
      json.append("\\n");
    } else if (c == '\t') {
      json.append("\\t");
    } else if (c < 0x20 || c == 0x7f || (c == '<' && in_html)) {
      json.append("\\u00");
      json.push_back(kHex[c >> 4]);
      json.push_back(kHex[c & 15]);
    } else if (c < 0x80) {
      json.push_back(text[0]);
    } else if (size = utf8_character_size(text); size > 0) {
      json.append(text.substr(0, size));
    } else {
      append_utf8(json, 0xfffd);
      size = 1;
    }
    text.remove_prefix(size);
  }
  json.push_back('"');
}

}  // namespace

Escapes append_unescaped(std::string& text, std::string_view content) {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  Escapes worst = Escapes::valid;
  for (std::size_t at = 0; at < content.size();) {
    const std::size_t slash = content.find('\\', at);
    text.append(content.substr(at, slash - at));
    if (slash == std::string_view::npos) break;
    at = slash + 1;
    const char letter = at < content.size() ? content[at] : '\0';
    if (const std::size_t which = kLetters.find(letter); which != std::string_view::npos) {
      text.push_back(kMeanings[which]);
      ++at;
      continue;
    }
    const Escapes escape =
        letter == 'u' ? append_unicode_escape(text, content, at) : Escapes::unknown;
    if (escape == Escapes::unknown) text.push_back('\\');
    worst = std::max(worst, escape);
  }
  return worst;
}

void append_json_string(std::string& json, std::string_view text) {
  append_string(json, text, false);
}

void append_html_json_string(std::string& json, std::string_view text) {
  append_string(json, text, true);
}

}  // namespace tbtrace::wire
