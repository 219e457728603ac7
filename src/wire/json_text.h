// Escapes and unescapes JSON strings. Escapes that JSON does not define are kept unchanged and
// reported.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tbtrace::wire {

/// The worst kind of escape in a string.
enum class Escapes : std::uint8_t {
  valid,
  unpaired,  ///< half a surrogate pair: valid JSON, but not a character
  unknown,   ///< not a JSON escape
};

/// Appends the unescaped content of a JSON string (without its quotes). Unpaired surrogates become
/// U+FFFD; unknown escapes are appended unchanged.
Escapes append_unescaped(std::string& text, std::string_view content);

/// Appends `text` as a JSON string with quotes. Control characters, quotes, backslashes and bytes
/// that are not UTF-8 are escaped or replaced.
void append_json_string(std::string& json, std::string_view text);

/// The same with `<` escaped, too, so that the result can be embedded in HTML.
void append_html_json_string(std::string& json, std::string_view text);

}  // namespace tbtrace::wire
