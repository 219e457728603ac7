// Text of JSON strings: from the escaped form and into it.
// Pure functions. Escapes that JSON does not know are kept unchanged and reported.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tbtrace::wire {

/// What the escapes of a string are, the worst of them.
enum class Escapes : std::uint8_t {
  valid,
  unpaired,  ///< half a surrogate pair: proper JSON, but no character
  unknown,   ///< none of JSON's
};

/// Appends the meaning of the content of a JSON string (without its quotes). U+FFFD stands for what
/// is unpaired; what is unknown is appended as it stands.
Escapes append_unescaped(std::string& text, std::string_view content);

/// Appends `text` as a JSON string with quotes. Control characters, quotes, backslashes and bytes
/// that are not UTF-8 are escaped or replaced.
void append_json_string(std::string& json, std::string_view text);

/// The same with `<` escaped too, so that the result may stand in HTML.
void append_html_json_string(std::string& json, std::string_view text);

}  // namespace tbtrace::wire
