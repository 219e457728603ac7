// The whitespace allowed between the tokens of JSON text (RFC 8259, section 2).
#pragma once

#include <cstddef>
#include <string_view>

namespace tbtrace::wire {

constexpr bool is_json_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

/// Whether this character ends a scalar.
constexpr bool ends_json_scalar(char c) {
  return is_json_blank(c) || c == ',' || c == ':' || c == ']' || c == '}';
}

/// The first position from `at` on that is not blank, or the end of the text.
constexpr std::size_t skip_json_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && is_json_blank(text[at])) ++at;
  return at;
}

/// The same for blanks and commas, as between two elements, some of which may be missing.
constexpr std::size_t skip_json_gap(std::string_view text, std::size_t at) {
  while (at < text.size() && (is_json_blank(text[at]) || text[at] == ',')) ++at;
  return at;
}

}  // namespace tbtrace::wire
