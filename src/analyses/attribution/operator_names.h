// Parts of operators' names.
#pragma once

#include <cstddef>
#include <string_view>

namespace tbtrace::analyses {

/// `aten::add` for `aten::add.Tensor`.
constexpr std::string_view without_overload(std::string_view name) {
  const std::size_t colon = name.rfind("::");
  const std::size_t dot = name.find('.', colon == std::string_view::npos ? 0 : colon);
  return name.substr(0, dot);
}

}  // namespace tbtrace::analyses
