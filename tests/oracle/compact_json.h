// JSON texts in one form, so that two texts of one value can be compared byte by byte: without
// blanks, strings decoded and escaped again as Python's json module does, numbers as written
// or in one form.
// Pure functions that share no code with the library.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tbtrace::oracle {

enum class Numbers { as_written, in_one_form };

/// The one text of a number's value, to its last digit: no exponent and no needless zeros, unless
/// it takes more than 40 digits; then `1.5e41`.
std::string number_in_one_form(std::string_view number);

/// One JSON value, if `text` is one by the rules of Python's json.loads: NaN, Infinity and
/// -Infinity are values, blanks around it are ignored. Lone surrogates become U+FFFD.
std::optional<std::string> compact_json(std::string_view text,
                                        Numbers numbers = Numbers::as_written);

/// Appends `text`, which is UTF-8, as a JSON string with quotes. Escapes only what JSON must.
void append_quoted(std::string& json, std::string_view text);

}  // namespace tbtrace::oracle
