// Operators that compute one or a few operations per element, and those that compute nothing: the
// second table of rules. To add an operator, add a row. Constants; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tbtrace::analyses {

/// What the operations are counted per.
enum class ElementCount : std::uint8_t {
  outputs,        ///< elements of all inputs broadcast together
  inputs,         ///< elements of the first tensor
  lists,          ///< elements of the first list of tensors
  normalization,  ///< elements of the first tensor; fewer operations without weight or training
  nothing,        ///< views and calls of others: 0, whatever the sizes; what is inside counts too
};

/// The least traffic of an operator, apart from what the rule says.
enum class ElementTraffic : std::uint8_t {
  usual,       ///< reads its inputs and writes an output
  overwrites,  ///< its first input is only written
  unknown,     ///< reads parts of its inputs
};

struct ElementRule {
  std::string_view name;
  ElementCount per;
  std::uint64_t operations;
  std::int16_t weight = -1;    ///< normalization: position of the weight
  std::int16_t training = -1;  ///< normalization: position of the flag; -1: as in training
  ElementTraffic traffic = ElementTraffic::usual;
};

/// All of them.
std::span<const ElementRule> element_rules();

/// nullptr: none. The name may have an overload.
const ElementRule* element_rule(std::string_view name);

}  // namespace tbtrace::analyses
