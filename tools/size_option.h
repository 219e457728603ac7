// Sizes as people write them.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace tbtrace::tools {

/// `2MB`, `500KB`, `1GB` or a number of bytes.
std::optional<std::size_t> size_in_bytes(std::string_view text);

}  // namespace tbtrace::tools
