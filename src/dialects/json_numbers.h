// Numbers as the rows of a trace have them.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <string>

namespace tbtrace::dialects {

inline void append_integer(std::string& json, std::int64_t value) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  json.append(digits.data(), end);
}

/// With as many decimals as it needs.
inline void append_microseconds(std::string& json, std::int64_t ns) {
  if (ns < 0) json += '-';
  const std::int64_t whole = ns / 1000;
  append_integer(json, whole < 0 ? -whole : whole);
  const auto rest = static_cast<int>(ns < 0 ? -(ns % 1000) : ns % 1000);
  if (rest == 0) return;
  const std::array<char, 4> decimals = {'.', static_cast<char>('0' + rest / 100),
                                        static_cast<char>('0' + rest / 10 % 10),
                                        static_cast<char>('0' + rest % 10)};
  json.append(decimals.data(), rest % 10 != 0 ? 4 : rest % 100 != 0 ? 3 : 2);
}

}  // namespace tbtrace::dialects
