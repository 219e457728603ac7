// Convolutions and their gradients.
#include <algorithm>
#include <array>

#include "analyses/flops/formulas.h"
#include "base/bounded_sum.h"

namespace tbtrace::analyses {
namespace {

using Integers = std::vector<std::int64_t>;

Sizes spatial(const Sizes& sizes) { return Sizes(sizes.begin() + 2, sizes.end()); }

/// One number per axis; a single one is that of all axes. Without a position: `otherwise`.
std::optional<Integers> per_axis(const OperatorInputs& inputs, int position, std::size_t axes,
                                 std::int64_t otherwise) {
  if (position < 0) return Integers(axes, otherwise);
  std::optional<Integers> values = inputs.integers(position);
  if (values && values->size() == 1) values->resize(axes, values->front());
  return values && values->size() == axes ? values : std::nullopt;
}

/// A size of the output; nullopt if it would be negative.
std::optional<std::uint64_t> checked_size(WideInteger size) {
  if (size < 0) return std::nullopt;
  return static_cast<std::uint64_t>(bounded(size));
}

/// Sizes of a convolution's output without batch and channels, from the recorded values.
std::optional<Sizes> output_sizes(const FlopRule& rule, const OperatorInputs& inputs,
                                  const Sizes& input, const Sizes& kernel, bool is_transposed) {
  const std::size_t axes = kernel.size();
  const auto stride = per_axis(inputs, rule.at[2], axes, 1);
  const auto padding = per_axis(inputs, rule.at[3], axes, 0);
  const auto dilation = per_axis(inputs, rule.at[4], axes, 1);
  const auto extra = is_transposed ? per_axis(inputs, rule.at[6], axes, 0) : Integers(axes, 0);
  if (!stride || !padding || !dilation || !extra) return std::nullopt;
  Sizes output;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const std::int64_t step = (*stride)[axis];
    if (step <= 0 || (*dilation)[axis] <= 0 || kernel[axis] == 0) return std::nullopt;
    const WideInteger reach = WideInteger{(*dilation)[axis]} * WideInteger{kernel[axis] - 1};
    const WideInteger margin = 2 * WideInteger{(*padding)[axis]};
    const WideInteger size =
        is_transposed ? (WideInteger{input[axis]} - 1) * step - margin + reach + (*extra)[axis] + 1
                      : WideInteger{input[axis]} + margin - reach - 1;
    if (size < 0) return std::nullopt;
    const auto checked = checked_size(is_transposed ? size : size / step + 1);
    if (!checked) return std::nullopt;
    output.push_back(*checked);
  }
  return output;
}

/// Whether channels agree, in a convolution of any number of groups.
bool has_channels(const Sizes& weight, std::uint64_t in, std::uint64_t out, bool is_transposed) {
  const std::uint64_t whole = is_transposed ? in : out;
  const std::uint64_t divided = is_transposed ? out : in;
  return weight[0] == whole && weight[1] != 0 && divided % weight[1] == 0;
}

/// Not known if the values are not recorded. `aten::convolution` is both.
std::optional<bool> transposed(const FlopRule& rule, const OperatorInputs& inputs, int position) {
  if (rule.formula == FlopFormula::transposed || rule.formula == FlopFormula::transposed_packed ||
      rule.formula == FlopFormula::transposed_gradients ||
      rule.formula == FlopFormula::transposed_input_gradient ||
      rule.formula == FlopFormula::transposed_weight_gradient) {
    return true;
  }
  return position < 0 ? std::optional(false) : inputs.flag(position);
}

/// By the channels. If both directions are possible, the usual one.
std::optional<bool> transposed_by_channels(const Sizes& weight, std::uint64_t in,
                                           std::uint64_t out) {
  if (has_channels(weight, in, out, false)) return false;
  if (has_channels(weight, in, out, true)) return true;
  return std::nullopt;
}

struct Output {
  std::uint64_t channels = 0;
  Sizes sizes;
  bool is_transposed = false;

  bool operator==(const Output&) const = default;
};

/// The output as its gradient shows it, if all gradients that fit agree.
std::optional<Output> output_of_gradients(std::span<const Sizes> gradients, const Sizes& input,
                                          const Sizes& weight, std::optional<bool> is_transposed) {
  std::optional<Output> output;
  for (const Sizes& gradient : gradients) {
    if (gradient.size() != weight.size() || gradient[0] != input[0]) continue;
    const auto direction =
        is_transposed ? is_transposed : transposed_by_channels(weight, input[1], gradient[1]);
    if (!direction || !has_channels(weight, input[1], gradient[1], *direction)) continue;
    Output found = {gradient[1], spatial(gradient), *direction};
    if (output && *output != found) return std::nullopt;
    output = std::move(found);
  }
  return output;
}

std::optional<Output> output_of_values(const FlopRule& rule, const OperatorInputs& inputs,
                                       const Sizes& input, const Sizes& weight,
                                       std::optional<bool> is_transposed) {
  if (!is_transposed) return std::nullopt;
  const std::int64_t groups = rule.at[7] < 0 ? 1 : inputs.integer(rule.at[7]).value_or(0);
  if (*is_transposed && groups <= 0) return std::nullopt;
  const std::uint64_t channels =
      *is_transposed ? saturating_product(weight[1], static_cast<std::uint64_t>(groups))
                     : weight[0];
  if (!has_channels(weight, input[1], channels, *is_transposed)) return std::nullopt;
  std::optional<Sizes> sizes =
      output_sizes(rule, inputs, spatial(input), spatial(weight), *is_transposed);
  if (!sizes) return std::nullopt;
  return Output{channels, *std::move(sizes), *is_transposed};
}

Work work_of(std::uint64_t macs, std::uint64_t bytes) {
  return {macs, saturating_product(2, macs), bytes};
}

/// A weight [out, in / groups, ...] as [in, out / groups, ...].
std::optional<Sizes> unpacked(const FlopRule& rule, const OperatorInputs& inputs, Sizes weight) {
  const std::int64_t groups = inputs.integer(rule.at[7]).value_or(0);
  if (groups <= 0 || weight[0] % static_cast<std::uint64_t>(groups) != 0) return std::nullopt;
  const std::uint64_t out = weight[0];
  weight[0] = saturating_product(weight[1], static_cast<std::uint64_t>(groups));
  weight[1] = out / static_cast<std::uint64_t>(groups);
  return weight;
}

std::optional<Work> forward(const FlopRule& rule, const OperatorInputs& inputs,
                            std::span<const Sizes> gradients) {
  const Sizes* given = inputs.tensor(rule.at[0]);
  const Sizes* given_weight = inputs.tensor(rule.at[1]);
  if (given == nullptr || given_weight == nullptr || given_weight->size() < 3) return std::nullopt;
  const bool is_packed = rule.formula == FlopFormula::transposed_packed;
  const std::optional<Sizes> weight =
      is_packed ? unpacked(rule, inputs, *given_weight) : std::optional(*given_weight);
  if (!weight) return std::nullopt;
  Sizes input = *given;
  if (input.size() + 1 == weight->size()) input.insert(input.begin(), 1);  // not a batch
  if (input.size() != weight->size()) return std::nullopt;
  const std::optional<bool> is_transposed = transposed(rule, inputs, rule.at[5]);
  std::optional<Output> output = output_of_values(rule, inputs, input, *weight, is_transposed);
  if (!output) output = output_of_gradients(gradients, input, *weight, is_transposed);
  if (!output) return std::nullopt;
  Sizes counted = output->is_transposed ? spatial(input) : output->sizes;
  counted.push_back(input[0]);
  counted.push_back(elements(*weight));
  Sizes outputs = output->sizes;
  outputs.push_back(input[0]);
  outputs.push_back(output->channels);
  return work_of(elements(counted), traffic(inputs, elements(outputs)));
}

/// What a gradient is computed from; nullptr: unknown.
struct GradientSizes {
  const Sizes* gradient = nullptr;
  const Sizes* input = nullptr;
  const Sizes* weight = nullptr;
};

/// The multiply-adds of one gradient, which are those of the convolution.
std::optional<std::uint64_t> gradient_macs(const GradientSizes& sizes,
                                           std::optional<bool> is_transposed) {
  const auto& [gradient, input, weight] = sizes;
  if (weight == nullptr || weight->size() < 3) return std::nullopt;
  const std::size_t rank = weight->size();
  const auto is_usable = [&](const Sizes* tensor) {
    return tensor != nullptr && tensor->size() == rank;
  };
  if (!is_transposed) {
    if (!is_usable(gradient) || !is_usable(input)) return std::nullopt;
    is_transposed = transposed_by_channels(*weight, (*input)[1], (*gradient)[1]);
    if (!is_transposed) return std::nullopt;
  }
  const Sizes* counted = *is_transposed ? input : gradient;
  if (!is_usable(counted) || (*counted)[1] != (*weight)[0]) return std::nullopt;
  const bool has_both = is_usable(gradient) && is_usable(input);
  if (has_both && (*gradient)[0] != (*input)[0]) return std::nullopt;
  if (has_both && !has_channels(*weight, (*input)[1], (*gradient)[1], *is_transposed)) {
    return std::nullopt;
  }
  Sizes factors = spatial(*counted);
  factors.push_back((*counted)[0]);
  factors.push_back(elements(*weight));
  return elements(factors);
}

std::optional<Work> all_gradients(const FlopRule& rule, const OperatorInputs& inputs) {
  const GradientSizes sizes = {inputs.tensor(rule.at[0]), inputs.tensor(rule.at[1]),
                               inputs.tensor(rule.at[2])};
  const auto macs = gradient_macs(sizes, transposed(rule, inputs, rule.at[3]));
  const auto mask = inputs.flags(rule.at[4]);
  if (!macs || !mask || mask->size() < 2 || mask->size() > 3) return std::nullopt;
  std::uint64_t total = 0;
  std::uint64_t outputs = 0;
  for (std::size_t at = 0; at < 2; ++at) {
    if (!(*mask)[at]) continue;
    total = saturating_sum(total, *macs);
    const Sizes* output = at == 0 ? sizes.input : sizes.weight;
    outputs = saturating_sum(outputs, output == nullptr ? 0 : elements(*output));
  }
  if (mask->size() == 3 && mask->back() && sizes.gradient != nullptr) {
    outputs = saturating_sum(outputs, (*sizes.gradient)[1]);  // of the bias
  }
  return work_of(total, traffic(inputs, outputs));
}

/// The sizes of a tensor, or those in a list of numbers.
std::optional<Sizes> sizes_at(const OperatorInputs& inputs, int position) {
  if (const Sizes* tensor = inputs.tensor(position); tensor != nullptr && !tensor->empty()) {
    return *tensor;
  }
  const std::optional<Integers> values = inputs.integers(position);
  if (!values || values->empty() ||
      std::any_of(values->begin(), values->end(), [](auto size) { return size < 0; })) {
    return std::nullopt;
  }
  return Sizes(values->begin(), values->end());
}

/// One of the gradients. What its own inputs lack is an input of the operator around it.
std::optional<Work> one_gradient(const FlopRule& rule, const OperatorInputs& inputs,
                                 const OutsideInputs& outside) {
  std::array<std::optional<Sizes>, 3> found;
  for (std::size_t at = 0; at < 3; ++at) {
    found[at] = sizes_at(inputs, rule.at[at]);
    if (!found[at] && outside.around != nullptr) {
      found[at] = sizes_at(*outside.inputs_around, outside.around->at[at]);
    }
  }
  const auto pointer = [](const std::optional<Sizes>& sizes) { return sizes ? &*sizes : nullptr; };
  const GradientSizes sizes = {pointer(found[0]), pointer(found[1]), pointer(found[2])};
  const auto macs = gradient_macs(sizes, transposed(rule, inputs, -1));
  if (!macs) return std::nullopt;
  const bool is_of_weight = rule.formula == FlopFormula::weight_gradient ||
                            rule.formula == FlopFormula::transposed_weight_gradient;
  const Sizes* output = is_of_weight ? sizes.weight : sizes.input;
  const int typed_as = rule.at[0];
  return work_of(*macs, output == nullptr ? 0 : traffic(inputs, elements(*output), typed_as));
}

}  // namespace

std::optional<Work> convolution_work(const FlopRule& rule, const OperatorInputs& inputs,
                                     const OutsideInputs& outside) {
  if (is_convolution(rule)) return forward(rule, inputs, outside.gradients);
  if (!is_gradient_of_convolution(rule)) return std::nullopt;
  const bool is_of_all =
      rule.formula == FlopFormula::gradients || rule.formula == FlopFormula::transposed_gradients;
  return is_of_all ? all_gradients(rule, inputs) : one_gradient(rule, inputs, outside);
}

}  // namespace tbtrace::analyses
