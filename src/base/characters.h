// Classes of ASCII characters, whatever the locale.
#pragma once

namespace tbtrace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }

}  // namespace tbtrace
