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

/// Operators that make a tensor without looking at a value: views, and memory that is not written.
/// They compute nothing, however long they take.
constexpr bool only_makes_tensors(std::string_view name) {
  constexpr std::string_view kPrefix = "aten::";
  if (!name.starts_with(kPrefix)) return false;
  name = without_overload(name).substr(kPrefix.size());
  for (const std::string_view each :
       {"alias",          "as_strided",      "chunk",         "detach",  "empty",
        "empty_like",     "expand",          "empty_strided", "narrow",  "permute",
        "select",         "slice",           "split",         "squeeze", "t",
        "transpose",      "unbind",          "unsqueeze",     "view",    "_unsafe_view",
        "_reshape_alias", "split_with_sizes"}) {
    if (name == each) return true;
  }
  return false;
}

}  // namespace tbtrace::analyses
