// Integers and times from their decimal text, without a detour through doubles.
// Text that is not a JSON number (`01`, `+1`, `.5`) and numbers that are too large give nullopt.
// The `padded` forms are for the hot path: their text must be followed by 8 readable bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tbtrace {

/// A whole number, optionally with a minus sign. Values from 2^63 to 2^64-1 keep their bits (they
/// occur as process and communicator ids), so equal texts give equal numbers.
std::optional<std::int64_t> parse_padded_integer(std::string_view text);
/// The same, for up to 20 digits, also with leading zeros, as in names (`step_007`).
std::optional<std::int64_t> parse_integer(std::string_view text);

/// The same, and whole numbers in the forms written by programs that hold all numbers as doubles:
/// `5.0`, `5e0`, `1.5e3`.
std::optional<std::int64_t> parse_padded_id(std::string_view text);

/// Nanoseconds from microseconds as written in Chrome traces: `12`, `12.345`, `1.2e3`. Decimals
/// beyond the third are rounded to the nearest nanosecond, half away from 0.
std::optional<std::int64_t> parse_microseconds(std::string_view text);
std::optional<std::int64_t> parse_padded_microseconds(std::string_view text);

}  // namespace tbtrace
