#include "analyses/flops/wrapper_operators.h"

#include <cstddef>

#include "analyses/attribution/operator_names.h"
#include "base/bounded_sum.h"

namespace tbtrace::analyses {
namespace {

/// Formulas of one kind compute the same from the inputs of different operators.
enum class Kind : std::uint8_t {
  matrices,
  convolution,
  convolution_gradients,
  attention,
  attention_gradients,
  recurrent,
  recurrent_gradients,
  elements,
};

Kind kind_of(const NestedOperator& op) {
  if (op.product == nullptr) return Kind::elements;
  switch (op.product->formula) {
    case FlopFormula::product:
    case FlopFormula::linear:
    case FlopFormula::grouped:
    case FlopFormula::outer:
      return Kind::matrices;
    case FlopFormula::convolution:
    case FlopFormula::transposed:
    case FlopFormula::transposed_packed:
      return Kind::convolution;
    case FlopFormula::gradients:
    case FlopFormula::transposed_gradients:
    case FlopFormula::input_gradient:
    case FlopFormula::weight_gradient:
    case FlopFormula::transposed_input_gradient:
    case FlopFormula::transposed_weight_gradient:
      return Kind::convolution_gradients;
    case FlopFormula::attention:
    case FlopFormula::attention_by_sequence:
      return Kind::attention;
    case FlopFormula::attention_gradients:
    case FlopFormula::attention_gradients_by_sequence:
      return Kind::attention_gradients;
    case FlopFormula::recurrent:
    case FlopFormula::recurrent_layer:
      return Kind::recurrent;
    case FlopFormula::recurrent_gradients:
    case FlopFormula::recurrent_layer_gradients:
      return Kind::recurrent_gradients;
  }
  return Kind::elements;
}

bool are_same(const NestedOperator& one, const NestedOperator& other) {
  const Kind kind = kind_of(one);
  if (kind != kind_of(other)) return false;
  return kind == Kind::matrices || without_overload(one.name) == without_overload(other.name);
}

bool has_same_work(const NestedOperator& one, const NestedOperator& other) {
  return kind_of(one) == kind_of(other) && one.work->flops == other.work->flops;
}

/// Callers of others, whatever their sizes, hand on what is inside them anyway.
bool may_count(const NestedOperator& op) {
  if (op.product != nullptr) return !op.product->is_fallback;
  return op.elements->per != ElementCount::nothing;
}

/// What the same operators inside one compute together.
struct Inside {
  bool is_known = false;
  bool has_unknown = false;
  bool calls_wrapper = false;
  std::uint64_t flops = 0;

  void add(std::uint64_t more) {
    is_known = true;
    flops = saturating_sum(flops, more);
  }
};

}  // namespace

std::vector<bool> wrapper_operators(std::span<const NestedOperator> operators) {
  std::vector<bool> wrappers(operators.size(), false);
  std::vector<Inside> insides(operators.size());
  // From the inside out: what is inside an operator comes after it.
  for (std::size_t at = operators.size(); at-- > 0;) {
    const NestedOperator& op = operators[at];
    if (!may_count(op)) continue;
    const Inside& inside = insides[at];
    wrappers[at] = op.work && (inside.calls_wrapper || (inside.is_known && !inside.has_unknown &&
                                                        inside.flops != op.work->flops));
    // The innermost operator around it that would count with all that is inside.
    std::uint32_t around = op.around;
    while (around != NestedOperator::kNone && !may_count(operators[around])) {
      around = operators[around].around;
    }
    if (around == NestedOperator::kNone || !operators[around].work) continue;
    Inside& outer = insides[around];
    if (are_same(op, operators[around])) {
      if (!op.work) {
        outer.has_unknown = true;
      } else {
        outer.add(wrappers[at] ? inside.flops : op.work->flops);
      }
    } else if (wrappers[at] && has_same_work(op, operators[around])) {
      outer.calls_wrapper = true;
      outer.add(inside.flops);
    }
  }
  return wrappers;
}

}  // namespace tbtrace::analyses
