// Integers and times from their decimal text, without a detour through doubles.
// Text that is not a JSON number (`01`, `+1`, `.5`) and numbers that are too large give nullopt.
// The `padded` forms are for the hot path: their text must be followed by 8 readable bytes. They
// return false where the others give nullopt: a std::optional is written in parts and read as a
// whole, and a processor waits before it can do that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace tbtrace {
namespace decimal_detail {

/// Up to eight digits at once: pairs, then fours, then the whole, each step one multiplication.
/// Little-endian, like all machines that this program is built for.
inline bool few_digits(const char* text, std::size_t count, std::uint64_t& value) {
  constexpr std::uint64_t kZeros = 0x3030303030303030;
  std::uint64_t word;
  std::memcpy(&word, text, sizeof word);
  if (count < 8) {
    // The digits move up, and zeros come before them.
    const std::size_t shift = 8 * (8 - count);
    word = word << shift | kZeros >> (64 - shift);
  }
  // A byte is a digit if its upper half is 3 and adding 6 does not carry into it.
  if (((word & 0xf0f0f0f0f0f0f0f0) | (((word + 0x0606060606060606) & 0xf0f0f0f0f0f0f0f0) >> 4)) !=
      0x3333333333333333) {
    return false;
  }
  word = (word & 0x0f0f0f0f0f0f0f0f) * 2561 >> 8;
  word = (word & 0x00ff00ff00ff00ff) * 6553601 >> 16;
  value = (word & 0x0000ffff0000ffff) * 42949672960001 >> 32;
  return true;
}

/// The most common form: 1 to 8 digits and nothing else. If false, the text may still be a number.
inline bool short_number(std::string_view text, std::uint64_t& value) {
  const bool is_short = text.size() - 1 < 8 && (text[0] != '0' || text.size() == 1);
  return is_short && few_digits(text.data(), text.size(), value);
}

// What has another form than a short number.
bool other_integer(std::string_view text, std::int64_t& value);
bool other_id(std::string_view text, std::int64_t& value);
bool other_microseconds(std::string_view text, std::int64_t& ns);

}  // namespace decimal_detail

/// A whole number, optionally with a minus sign. Values from 2^63 to 2^64-1 keep their bits (they
/// occur as process and communicator ids), so equal texts give equal numbers.
inline bool parse_padded_integer(std::string_view text, std::int64_t& value) {
  std::uint64_t number;
  if (!decimal_detail::short_number(text, number))
    return decimal_detail::other_integer(text, value);
  value = static_cast<std::int64_t>(number);
  return true;
}
/// The same, for up to 20 digits, also with leading zeros, as in names (`step_007`).
std::optional<std::int64_t> parse_integer(std::string_view text);

/// The same, and whole numbers in the forms written by programs that hold all numbers as doubles:
/// `5.0`, `5e0`, `1.5e3`.
inline bool parse_padded_id(std::string_view text, std::int64_t& value) {
  std::uint64_t number;
  if (!decimal_detail::short_number(text, number)) return decimal_detail::other_id(text, value);
  value = static_cast<std::int64_t>(number);
  return true;
}

/// Nanoseconds from microseconds as written in Chrome traces: `12`, `12.345`, `1.2e3`. Decimals
/// beyond the third are rounded to the nearest nanosecond, half away from 0.
std::optional<std::int64_t> parse_microseconds(std::string_view text);
inline bool parse_padded_microseconds(std::string_view text, std::int64_t& ns) {
  std::uint64_t whole;
  if (!decimal_detail::short_number(text, whole)) {
    return decimal_detail::other_microseconds(text, ns);
  }
  ns = static_cast<std::int64_t>(whole * 1000);
  return true;
}

}  // namespace tbtrace
