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

/// Appends the one text that stands for all texts of the same value: one blank after commas and
/// colons and no others, strings as written by append_json_string(), numbers to their last digit
/// without an exponent or trailing zeros (`3.0` and `30e-1` are `3`, `-0` is `0`); above 40 digits
/// with one, as `1.5e41`. Python's `NaN`, `Infinity` and `-Infinity` are values. Returns false and
/// appends nothing if it is not JSON.
bool append_canonical_json(std::string& json, std::string_view value);

}  // namespace tbtrace::wire
