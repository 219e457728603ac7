// What may stand between the parts of a JSON text (RFC 8259, section 2).
// Pure functions.
#pragma once

#include <cstddef>
#include <string_view>

namespace tbtrace::wire {

constexpr bool is_json_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

/// A scalar ends before this.
constexpr bool ends_json_scalar(char c) {
  return is_json_blank(c) || c == ',' || c == ':' || c == ']' || c == '}';
}

/// The first place from `at` on where no blank stands, or the end of the text.
constexpr std::size_t skip_json_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && is_json_blank(text[at])) ++at;
  return at;
}

/// The same for blanks and commas: what stands between two elements, where some may be missing.
constexpr std::size_t skip_json_gap(std::string_view text, std::size_t at) {
  while (at < text.size() && (is_json_blank(text[at]) || text[at] == ',')) ++at;
  return at;
}

}  // namespace tbtrace::wire
