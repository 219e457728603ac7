// Names as people number them: `trace_9` before `trace_10`.
// Any thread. Any bytes; digits are those of ASCII.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace tbtrace {

/// A strict order of all texts: by bytes, except that runs of digits compare by value. Texts that
/// are equal under this rule are ordered by bytes.
inline bool in_natural_order(std::string_view one, std::string_view two) {
  const auto digits_at = [](std::string_view text, std::size_t at) {
    return std::min(text.find_first_not_of("0123456789", at), text.size()) - at;
  };
  std::size_t a = 0;
  std::size_t b = 0;
  while (a < one.size() && b < two.size()) {
    std::string_view number = one.substr(a, digits_at(one, a));
    std::string_view other = two.substr(b, digits_at(two, b));
    if (number.empty() || other.empty()) {
      if (one[a] != two[b]) {
        return static_cast<unsigned char>(one[a]) < static_cast<unsigned char>(two[b]);
      }
      ++a;
      ++b;
      continue;
    }
    a += number.size();
    b += other.size();
    number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
    other.remove_prefix(std::min(other.find_first_not_of('0'), other.size()));
    if (number.size() != other.size()) return number.size() < other.size();
    if (number != other) return number < other;
  }
  const bool one_ends = a == one.size();
  const bool two_ends = b == two.size();
  if (one_ends != two_ends) return one_ends;
  return one < two;
}

}  // namespace tbtrace
