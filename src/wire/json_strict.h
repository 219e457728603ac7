// JSON of unknown origin into JSON that every reader takes.
// Pure functions. What is not JSON is refused, never repaired.
// Nesting beyond 900 levels is refused: before version 3.12, Python's reader gives up at 995 levels
// of the whole document.
#pragma once

#include <string>
#include <string_view>

namespace tbtrace::wire {

/// A number as JSON has it: no `NaN`, no leading `+` or zeros.
bool is_json_number(std::string_view text);

/// A number or literal as Python's json takes it: with `NaN`, `Infinity` and `-Infinity`.
bool is_json_scalar(std::string_view text);

/// Appends one value without needless blanks (`spaced`: with one behind commas and colons), its
/// strings as append_json_string() writes them. False, and nothing appended, if it is not JSON.
/// `is_repaired` becomes true if U+FFFD stands for half a surrogate pair.
bool append_strict_json(std::string& json, std::string_view value, bool spaced,
                        bool* is_repaired = nullptr);

}  // namespace tbtrace::wire
