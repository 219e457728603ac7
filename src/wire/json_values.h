// Values of small JSON texts, such as the members of a trace other than its events. Read by
// simdjson.
// Results own their texts. Invalid JSON has no values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tbtrace::wire {

/// The whole number, or the string that holds one, at `key` of an object. The object itself may be
/// inside a string, as some writers store it.
std::optional<std::int64_t> json_integer(std::string_view json, std::string_view key);

/// The text of a string.
std::optional<std::string> json_text(std::string_view json);

}  // namespace tbtrace::wire
