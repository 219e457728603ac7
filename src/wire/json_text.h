// Text of JSON strings: from the escaped form and into it.
// Pure functions. Escapes that JSON does not know are kept as they are and reported.
#pragma once

#include <string>
#include <string_view>

namespace tbtrace::wire {

/// Appends the meaning of the content of a JSON string (without its quotes). False if it held an
/// escape that JSON does not know; such an escape is appended as it stands. Lone surrogates become
/// U+FFFD.
bool append_unescaped(std::string& text, std::string_view content);

/// Appends `text` as a JSON string with quotes. Control characters, quotes, backslashes and bytes
/// that are no UTF-8 are escaped or replaced.
void append_json_string(std::string& json, std::string_view text);

/// The same with `<` escaped too, so that the result may stand in HTML.
void append_html_json_string(std::string& json, std::string_view text);

}  // namespace tbtrace::wire
