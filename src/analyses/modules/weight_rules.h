// Operators that take parameters, and which of their arguments those are: the table of rules.
// To add an operator, add a row. Constants; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace tbtrace::analyses {

struct WeightRule {
  std::string_view name;
  std::array<std::int8_t, 2> arguments;  ///< -1: none
};

/// All of them.
std::span<const WeightRule> weight_rules();

/// The rule of an operator; nullptr: none.
const WeightRule* weight_rule(std::string_view name);

}  // namespace tbtrace::analyses
