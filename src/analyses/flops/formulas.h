// Multiply-adds, operations and least traffic of one operator, by the rules of rules.h and
// element_rules.h. Pure functions; counts saturate at 64 bits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyses/flops/element_rules.h"
#include "analyses/flops/operator_inputs.h"
#include "analyses/flops/rules.h"

namespace tbtrace::analyses {

struct Work {
  std::uint64_t macs = 0;
  std::uint64_t flops = 0;
  std::uint64_t bytes = 0;  ///< 0: unknown

  bool operator==(const Work&) const = default;
};

/// What the operator's own inputs may lack.
struct OutsideInputs {
  /// Sizes of gradients that may be those of a convolution's output.
  std::span<const Sizes> gradients = {};
  /// The rule and inputs of the operator around, if it computes gradients of a convolution.
  const FlopRule* around = nullptr;
  const OperatorInputs* inputs_around = nullptr;
};

/// nullopt: the sizes are unknown, or no such operator can have them.
std::optional<Work> product_work(const FlopRule& rule, const OperatorInputs& inputs,
                                 const OutsideInputs& outside = {});
std::optional<Work> element_work(const ElementRule& rule, const OperatorInputs& inputs);

/// Whether OutsideInputs can help an operator with this rule.
bool is_convolution(const FlopRule& rule);
bool is_gradient_of_convolution(const FlopRule& rule);

/// The bytes of all tensors among the inputs; nullopt if a type is unknown.
std::optional<std::uint64_t> input_bytes(const OperatorInputs& inputs);

/// The sum with the output's bytes, 0 if something is unknown.
std::uint64_t traffic(const OperatorInputs& inputs, std::uint64_t output_elements,
                      int typed_as = 0);

/// The part of product_work() for convolutions and their gradients.
std::optional<Work> convolution_work(const FlopRule& rule, const OperatorInputs& inputs,
                                     const OutsideInputs& outside);

}  // namespace tbtrace::analyses
