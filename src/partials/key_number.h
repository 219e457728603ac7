// Numbers in the keys of a partial's rows, where they are texts. Pure function.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace tbtrace::partials {

/// nullopt for any other text, which a partial that another program wrote may have.
template <typename Number>
std::optional<Number> key_number(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace tbtrace::partials
