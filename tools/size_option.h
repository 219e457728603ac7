// Sizes as people write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tbtrace::tools {

/// `2MB`, `500KB`, `1GB` or a number of bytes.
std::optional<std::size_t> size_in_bytes(std::string_view text);

/// `123 B`, `45 kB`, `6 MB`.
std::string size_text(std::uint64_t bytes);

}  // namespace tbtrace::tools
