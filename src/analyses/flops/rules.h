// Which operators compute products, and where their inputs are: the table of rules.
// To add an operator, add a row. Constants; any thread.
// docs/formats/flops.md explains the formulas.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace tbtrace::analyses {

/// The formula for multiply-adds. Positions: of the inputs that it needs, in the order named here;
/// -1: the operator has none.
enum class FlopFormula : std::uint8_t {
  product,      ///< left, right: any product that torch.matmul computes
  linear,       ///< input, weight: with the transposed weight
  grouped,      ///< left, right: groups share the rows, the columns or the inner size
  outer,        ///< two vectors
  convolution,  ///< input, weight, stride, padding, dilation, transposed, output padding, groups
  transposed,   ///< the same, always transposed
  transposed_packed,  ///< the same, with the weight's channels in the order of a convolution
  gradients,  ///< gradient, input, weight, transposed, mask, groups: as many as the mask says
  transposed_gradients,
  input_gradient,              ///< gradient, input or its sizes, weight
  weight_gradient,             ///< gradient, input, sizes of the weight
  transposed_input_gradient,   ///< as input_gradient
  transposed_weight_gradient,  ///< as weight_gradient
  attention,                   ///< query, key, value: batch, head, sequence, size of a head
  attention_by_sequence,       ///< batch, sequence, head, size of a head; sequence lengths
  attention_gradients,         ///< query, key, value
  attention_gradients_by_sequence,
  recurrent,            ///< input, weights, mode, hidden size, projection, layers, bidirectional
  recurrent_layer,      ///< input, weight, weight
  recurrent_gradients,  ///< input, weights, mask
  recurrent_layer_gradients,  ///< input, weight, weight; of input and weights
};

struct FlopRule {
  static constexpr std::size_t kPositions = 8;

  std::string_view name;
  FlopFormula formula;
  std::array<std::int16_t, kPositions> at;
  /// Counts only if nothing inside it counts a product: the operator calls others that do.
  bool is_fallback = false;
  /// A tensor to add may come after the first input, which makes all later positions one more.
  bool may_add = false;
};

/// All of them.
std::span<const FlopRule> flop_rules();

/// The rule of an operator, whose name may have an overload (`aten::mm.out`); nullptr: none.
const FlopRule* flop_rule(std::string_view name);

/// Operators that are convolutions, linear layers or embeddings, whose input has the samples.
/// Position of that input; -1 for other operators.
int position_of_samples(std::string_view name);
}  // namespace tbtrace::analyses
