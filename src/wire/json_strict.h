// Converts JSON of unknown origin into JSON that every reader accepts.
// Text that is not JSON is refused, never repaired.
// Nesting beyond 900 levels is refused: before version 3.12, Python's reader fails at 995 levels of
// the whole document.
#pragma once

#include <string>
#include <string_view>

namespace tbtrace::wire {

/// Whether it is a valid JSON number: no `NaN`, no leading `+` or zeros.
bool is_json_number(std::string_view text);

/// Whether it is a number or literal that Python's json accepts, including `NaN`, `Infinity` and
/// `-Infinity`.
bool is_json_scalar(std::string_view text);

/// Appends one value without unnecessary blanks (`spaced`: with one after commas and colons), its
/// strings as written by append_json_string(). Returns false and appends nothing if it is not JSON.
/// Sets `is_repaired` if half a surrogate pair was replaced by U+FFFD.
bool append_strict_json(std::string& json, std::string_view value, bool spaced,
                        bool* is_repaired = nullptr);

}  // namespace tbtrace::wire
