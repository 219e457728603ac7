// Operators that hand their work on to the same operator with other sizes, which is what ran: those
// of DTensor, whose sizes are global, around those of the shard; those of vmap, which lack a batch.
// Pure function.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyses/flops/formulas.h"

namespace tbtrace::analyses {

/// An operator that has a rule, among all those of a trace in the order of the call tree.
struct NestedOperator {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t around = kNone;  ///< the innermost of them that it is inside
  std::string_view name;
  const FlopRule* product = nullptr;  ///< one of the two is given
  const ElementRule* elements = nullptr;
  std::optional<Work> work;  ///< nullopt: its sizes are unknown
};

/// Whether each of them contains the same operator with other sizes, or calls one of its kind that
/// does. Products of matrices and vectors are one operator: vmap computes `mm` by `bmm`. Sums of
/// operations are compared: an operator that divides its work among several keeps it, and so does
/// one that only moves data.
std::vector<bool> wrapper_operators(std::span<const NestedOperator> operators);

}  // namespace tbtrace::analyses
