// Sizes of a kernel's launch from their JSON: the grid and the block.
// Pure function.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <tbtrace/arguments.h>

#include "base/characters.h"

namespace tbtrace::readers {

/// `[1, 2, 3]`: one to three sizes.
inline std::optional<Dim3> dim3_of(std::string_view json) {
  std::array<std::uint32_t, 3> sizes = {1, 1, 1};
  const auto skip = [&] {
    while (!json.empty() && static_cast<unsigned char>(json.front()) <= ' ') json.remove_prefix(1);
  };
  const auto take = [&](char c) {
    skip();
    if (json.empty() || json.front() != c) return false;
    json.remove_prefix(1);
    return true;
  };
  if (!take('[')) return std::nullopt;
  for (std::size_t at = 0; at < sizes.size(); ++at) {
    skip();
    if (json.size() > 1 && json[0] == '0' && is_digit(json[1])) return std::nullopt;  // is not JSON
    const auto [end, error] = std::from_chars(json.data(), json.data() + json.size(), sizes[at]);
    if (error != std::errc()) return std::nullopt;
    json.remove_prefix(static_cast<std::size_t>(end - json.data()));
    if (take(']'))
      return json.empty() ? std::optional(Dim3{sizes[0], sizes[1], sizes[2]}) : std::nullopt;
    if (!take(',')) return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace tbtrace::readers
