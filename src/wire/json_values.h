// Values of small JSON texts, such as the members of a trace that are not events. Read by simdjson.
// Pure functions; results own their texts. What is not proper JSON has no values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tbtrace::wire {

/// The whole number, or the string that holds one, at `key` of an object. The object itself may
/// stand in a string, as some writers have it.
std::optional<std::int64_t> json_integer(std::string_view json, std::string_view key);

/// The text of a string.
std::optional<std::string> json_text(std::string_view json);

}  // namespace tbtrace::wire
