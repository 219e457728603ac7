// How torch.profiler names the ranges of steps: `ProfilerStep#5`.
// Pure functions of a name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/decimal.h"

namespace tbtrace {

inline constexpr std::string_view kStepPrefix = "ProfilerStep#";

/// Begins like a step's name, whatever follows.
constexpr bool is_step_name(std::string_view name) { return name.starts_with(kStepPrefix); }

/// What stands where the number should be. `name` must be a step's.
constexpr std::string_view step_number_text(std::string_view name) {
  return name.substr(kStepPrefix.size());
}

/// nullopt where something else follows the prefix, or the name is not a step's.
inline std::optional<std::int64_t> step_number(std::string_view name) {
  if (!is_step_name(name)) return std::nullopt;
  return parse_integer(step_number_text(name));
}

inline std::string step_name(std::int64_t number) {
  return std::string(kStepPrefix) + std::to_string(number);
}

}  // namespace tbtrace
