// torch.profiler's names for the ranges of steps: `ProfilerStep#5`.
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

/// The text in place of the number. `name` must be a step's name.
constexpr std::string_view step_number_text(std::string_view name) {
  return name.substr(kStepPrefix.size());
}

/// nullopt if the text after the prefix is not a number, or if the name is not a step's.
inline std::optional<std::int64_t> step_number(std::string_view name) {
  if (!is_step_name(name)) return std::nullopt;
  return parse_integer(step_number_text(name));
}

inline std::string step_name(std::int64_t number) {
  return std::string(kStepPrefix) + std::to_string(number);
}

}  // namespace tbtrace
