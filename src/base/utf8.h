// UTF-8 for text columns and outputs: counting, cutting, and making text valid.
// Bytes that are not UTF-8 count as one character each and are replaced by U+FFFD.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tbtrace {

/// Length in bytes of the well-formed character at the start of `text`, 0 if there is none
/// (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF).
std::size_t utf8_character_size(std::string_view text);

bool is_utf8(std::string_view text);

/// Number of characters (Unicode code points).
std::size_t utf8_length(std::string_view text);

/// The first `count` characters, or all there are.
std::string_view utf8_prefix(std::string_view text, std::size_t count);

/// The same, and `...` if there are more.
std::string utf8_shortened(std::string_view text, std::size_t count);

/// The text with each byte that is not part of a character replaced by U+FFFD.
std::string to_utf8(std::string_view bytes);

/// Appends a code point; surrogates and values above U+10FFFF become U+FFFD.
void append_utf8(std::string& text, char32_t code_point);

}  // namespace tbtrace
