#include "analyses/flops/formulas.h"

#include <algorithm>

#include "base/bounded_sum.h"

namespace tbtrace::analyses {
namespace {

Work of_macs(std::uint64_t macs, std::uint64_t bytes) {
  return {macs, saturating_product(2, macs), bytes};
}

/// The product of the first `count` sizes.
std::uint64_t leading(const Sizes& sizes, std::size_t count) {
  return elements(Sizes(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(count)));
}

/// The shape to which all broadcast; nullopt if they do not.
std::optional<Sizes> broadcast(const Sizes& one, const Sizes& two) {
  const Sizes& longer = one.size() >= two.size() ? one : two;
  const Sizes& shorter = one.size() >= two.size() ? two : one;
  Sizes result = longer;
  const std::size_t skipped = longer.size() - shorter.size();
  for (std::size_t axis = 0; axis < shorter.size(); ++axis) {
    std::uint64_t& size = result[skipped + axis];
    if (size == shorter[axis] || shorter[axis] == 1) continue;
    if (size != 1) return std::nullopt;
    size = shorter[axis];
  }
  return result;
}

/// As torch.matmul: vectors, matrices, and batches of matrices that broadcast.
std::optional<Work> product(const Sizes* left, const Sizes* right, const OperatorInputs& inputs) {
  if (left == nullptr || right == nullptr || left->empty() || right->empty()) return std::nullopt;
  const bool is_row = left->size() == 1;
  const bool is_column = right->size() == 1;
  const std::uint64_t inner = left->back();
  if (inner != (is_column ? right->back() : right->end()[-2])) return std::nullopt;
  const auto batch_of = [](const Sizes& sizes) {
    return Sizes(sizes.begin(),
                 sizes.end() - static_cast<std::ptrdiff_t>(std::min<std::size_t>(2, sizes.size())));
  };
  std::optional<Sizes> output = broadcast(batch_of(*left), batch_of(*right));
  if (!output) return std::nullopt;
  if (!is_row) output->push_back(left->end()[-2]);
  if (!is_column) output->push_back(right->back());
  const std::uint64_t outputs = elements(*output);
  output->push_back(inner);
  return of_macs(elements(*output), traffic(inputs, outputs));
}

std::optional<Work> linear(const Sizes* input, const Sizes* weight, const OperatorInputs& inputs) {
  if (input == nullptr || weight == nullptr || input->empty()) return std::nullopt;
  if (weight->empty() || weight->size() > 2 || weight->back() != input->back()) return std::nullopt;
  Sizes output(input->begin(), input->end() - 1);
  if (weight->size() == 2) output.push_back(weight->front());
  const std::uint64_t outputs = elements(output);
  output.push_back(input->back());
  return of_macs(elements(output), traffic(inputs, outputs));
}

/// With groups in one of the sizes, the whole size counts, however it is divided.
std::optional<Work> grouped(const Sizes* left, const Sizes* right, const OperatorInputs& inputs) {
  if (left == nullptr || right == nullptr) return std::nullopt;
  const auto is_matrix = [](const Sizes& sizes) { return sizes.size() == 2 || sizes.size() == 3; };
  if (!is_matrix(*left) || !is_matrix(*right)) return std::nullopt;
  const bool is_batched = left->size() == 3 && right->size() == 3;
  if (left->back() != right->end()[-2]) return std::nullopt;
  if (is_batched && left->front() != right->front()) return std::nullopt;
  const std::uint64_t batches = is_batched ? left->front() : 1;
  const Sizes all = {batches, left->end()[-2], left->back(), right->back()};
  // Two matrices: one output per group, and the sizes do not say how many groups there are.
  const bool has_groups = left->size() == 3 || right->size() == 3;
  const std::uint64_t outputs = elements({batches, left->end()[-2], right->back()});
  return of_macs(elements(all), has_groups ? traffic(inputs, outputs) : 0);
}

std::optional<Work> outer(const Sizes* left, const Sizes* right, const OperatorInputs& inputs) {
  if (left == nullptr || right == nullptr) return std::nullopt;
  if (left->size() != 1 || right->size() != 1) return std::nullopt;
  const std::uint64_t outputs = saturating_product(left->front(), right->front());
  return of_macs(outputs, traffic(inputs, outputs));
}

struct AttentionSizes {
  std::uint64_t heads = 0;  ///< of all batches
  std::uint64_t queries = 0;
  std::uint64_t keys = 0;
  std::uint64_t key_size = 0;
  std::uint64_t value_size = 0;
};

std::optional<AttentionSizes> attention_sizes(const FlopRule& rule, const OperatorInputs& inputs) {
  const Sizes* query = inputs.tensor(rule.at[0]);
  const Sizes* key = inputs.tensor(rule.at[1]);
  const Sizes* value = inputs.tensor(rule.at[2]);
  if (query == nullptr || key == nullptr || value == nullptr) return std::nullopt;
  const std::size_t rank = query->size();
  if (rank < 2 || key->size() != rank || value->size() != rank) return std::nullopt;
  const bool by_sequence = rule.formula == FlopFormula::attention_by_sequence ||
                           rule.formula == FlopFormula::attention_gradients_by_sequence;
  if (by_sequence) {
    // Several sequences in one, each of which has a length that the sizes do not show.
    const Sizes* lengths = inputs.tensor(rule.at[3]);
    if (rank != 4 || (lengths != nullptr && !lengths->empty())) return std::nullopt;
  }
  const std::size_t sequence = by_sequence ? 1 : rank - 2;
  const AttentionSizes sizes = {
      by_sequence ? saturating_product(query->front(), (*query)[2]) : leading(*query, rank - 2),
      (*query)[sequence], (*key)[sequence], query->back(), value->back()};
  const bool fits = key->back() == sizes.key_size && (*value)[sequence] == sizes.keys;
  return fits ? std::optional(sizes) : std::nullopt;
}

std::optional<Work> attention(const FlopRule& rule, const OperatorInputs& inputs) {
  const std::optional<AttentionSizes> sizes = attention_sizes(rule, inputs);
  if (!sizes) return std::nullopt;
  const std::uint64_t rows = elements({sizes->heads, sizes->queries});
  const std::uint64_t pairs = elements({rows, sizes->keys});
  const std::uint64_t sums = saturating_sum(sizes->key_size, sizes->value_size);
  const std::uint64_t outputs = saturating_product(rows, sizes->value_size);
  return of_macs(saturating_product(pairs, sums), traffic(inputs, outputs));
}

/// Five products: the scores again, and the gradients of scores, query, key and value.
std::optional<Work> attention_gradients(const FlopRule& rule, const OperatorInputs& inputs) {
  const std::optional<AttentionSizes> sizes = attention_sizes(rule, inputs);
  if (!sizes) return std::nullopt;
  const std::uint64_t pairs = elements({sizes->heads, sizes->queries, sizes->keys});
  const std::uint64_t sums = saturating_sum(saturating_product(3, sizes->key_size),
                                            saturating_product(2, sizes->value_size));
  std::uint64_t outputs = 0;
  for (std::size_t at = 0; at < 3; ++at) {
    outputs = saturating_sum(outputs, elements(*inputs.tensor(rule.at[at])));
  }
  return of_macs(saturating_product(pairs, sums), traffic(inputs, outputs));
}

/// The elements of all matrices; nullopt if there are none.
std::optional<std::uint64_t> matrix_elements(const std::vector<Sizes>& tensors) {
  std::uint64_t sum = 0;
  bool has_any = false;
  for (const Sizes& sizes : tensors) {
    if (sizes.size() != 2) continue;
    has_any = true;
    sum = saturating_sum(sum, elements(sizes));
  }
  return has_any ? std::optional(sum) : std::nullopt;
}

/// The elements of the weights of a recurrent layer that torch names by values: its mode (0 and 1:
/// one gate, 2: LSTM, 3: GRU), sizes, layers and directions.
std::optional<std::uint64_t> weight_elements(const FlopRule& rule, const OperatorInputs& inputs,
                                             std::uint64_t input_size) {
  const auto mode = inputs.integer(rule.at[2]);
  const auto hidden = inputs.integer(rule.at[3]);
  const auto projection = inputs.integer(rule.at[4]);
  const auto layers = inputs.integer(rule.at[5]);
  const auto bidirectional = inputs.flag(rule.at[6]);
  if (!mode || !hidden || !projection || !layers || !bidirectional) return std::nullopt;
  if (*mode < 0 || *mode > 3 || *hidden < 0 || *projection != 0 || *layers < 1) return std::nullopt;
  const auto size = static_cast<std::uint64_t>(*hidden);
  const std::uint64_t directions = *bidirectional ? 2 : 1;
  const std::uint64_t gates = *mode == 2 ? 4 : *mode == 3 ? 3 : 1;
  const std::uint64_t rows = elements({directions, gates, size});
  const std::uint64_t first = saturating_product(rows, saturating_sum(input_size, size));
  const std::uint64_t other =
      saturating_product(rows, saturating_sum(saturating_product(directions, size), size));
  return saturating_sum(first, saturating_product(static_cast<std::uint64_t>(*layers) - 1, other));
}

/// Each row of the input (one step of one sequence) is multiplied with all weights.
std::optional<std::uint64_t> recurrent_macs(const FlopRule& rule, const OperatorInputs& inputs) {
  const Sizes* input = inputs.tensor(rule.at[0]);
  if (input == nullptr || input->size() < 2 || input->size() > 3) return std::nullopt;
  std::optional<std::uint64_t> weights;
  if (rule.formula == FlopFormula::recurrent_layer ||
      rule.formula == FlopFormula::recurrent_layer_gradients) {
    const Sizes* one = inputs.tensor(rule.at[1]);
    const Sizes* two = inputs.tensor(rule.at[2]);
    if (one == nullptr || two == nullptr) return std::nullopt;
    weights = matrix_elements({*one, *two});
  } else {
    const std::vector<Sizes>* list = inputs.tensors(rule.at[1]);
    // Packed sequences have one more input before the weights, which are the last list.
    for (std::size_t at = 0; rule.at[1] < 0 && at < inputs.size(); ++at) {
      if (const auto* found = inputs.tensors(static_cast<int>(at))) list = found;
    }
    if (list != nullptr) weights = matrix_elements(*list);
  }
  if (!weights && rule.formula == FlopFormula::recurrent) {
    weights = weight_elements(rule, inputs, input->back());
  }
  if (!weights) return std::nullopt;
  return saturating_product(leading(*input, input->size() - 1), *weights);
}

std::optional<Work> recurrent(const FlopRule& rule, const OperatorInputs& inputs) {
  std::optional<std::uint64_t> macs = recurrent_macs(rule, inputs);
  if (!macs) return std::nullopt;
  if (rule.formula == FlopFormula::recurrent_gradients) {
    // The gradients of the hidden states are always needed, those of the weights by the mask.
    const auto mask = inputs.flags(rule.at[2]);
    if (!mask || mask->size() != 4) return std::nullopt;
    if ((*mask)[3]) *macs = saturating_product(2, *macs);
  }
  if (rule.formula == FlopFormula::recurrent_layer_gradients) *macs = saturating_product(2, *macs);
  return of_macs(*macs, 0);
}

/// The rule with the positions that hold if a tensor to add follows the first input: two tensors
/// of several axes, where there would be the weight and the bias.
FlopRule with_added(const FlopRule& rule, const OperatorInputs& inputs) {
  FlopRule found = rule;
  const auto is_added = [&](int position) {
    const Sizes* sizes = inputs.tensor(position);
    return sizes != nullptr && sizes->size() > 1;
  };
  if (!rule.may_add || !is_added(rule.at[1]) || !is_added(rule.at[1] + 1)) return found;
  for (std::int16_t& position : found.at) position += position >= rule.at[1] ? 1 : 0;
  return found;
}

/// The first tensor; nullptr if there is none.
const Sizes* first_tensor(const OperatorInputs& inputs) {
  for (std::size_t at = 0; at < inputs.size(); ++at) {
    if (const Sizes* sizes = inputs.tensor(static_cast<int>(at))) return sizes;
  }
  return nullptr;
}

/// The elements that the operations are counted per.
std::optional<std::uint64_t> element_count(const ElementRule& rule, const OperatorInputs& inputs) {
  if (rule.per == ElementCount::lists) {
    for (std::size_t at = 0; at < inputs.size(); ++at) {
      const std::vector<Sizes>* list = inputs.tensors(static_cast<int>(at));
      if (list == nullptr) continue;
      std::uint64_t sum = 0;
      for (const Sizes& sizes : *list) sum = saturating_sum(sum, elements(sizes));
      return sum;
    }
    return std::nullopt;
  }
  const Sizes* first = first_tensor(inputs);
  if (first == nullptr) return std::nullopt;
  if (rule.per != ElementCount::outputs) return elements(*first);
  Sizes shape = *first;
  for (std::size_t at = 0; at < inputs.size(); ++at) {
    const Sizes* sizes = inputs.tensor(static_cast<int>(at));
    if (sizes == nullptr) continue;
    std::optional<Sizes> joint = broadcast(shape, *sizes);
    if (!joint) return std::nullopt;
    shape = *std::move(joint);
  }
  return elements(shape);
}

std::uint64_t operations_of(const ElementRule& rule, const OperatorInputs& inputs) {
  if (rule.per != ElementCount::normalization) return rule.operations;
  const std::uint64_t affine = inputs.tensor(rule.weight) == nullptr ? 1 : 0;
  const bool is_training = inputs.flag(rule.training).value_or(true);
  return (is_training ? rule.operations : 2) - affine;
}

}  // namespace

bool is_gradient_of_convolution(const FlopRule& rule) {
  return rule.formula >= FlopFormula::gradients &&
         rule.formula <= FlopFormula::transposed_weight_gradient;
}

bool is_convolution(const FlopRule& rule) {
  return rule.formula == FlopFormula::convolution || rule.formula == FlopFormula::transposed ||
         rule.formula == FlopFormula::transposed_packed;
}

std::optional<std::uint64_t> input_bytes(const OperatorInputs& inputs) {
  std::uint64_t sum = 0;
  std::uint64_t typical = 0;  // of the elements of lists, whose types the file does not have
  for (std::size_t at = 0; at < inputs.size(); ++at) {
    const int position = static_cast<int>(at);
    if (const Sizes* sizes = inputs.tensor(position)) {
      const std::uint64_t bytes = inputs.element_bytes(position);
      if (bytes == 0) return std::nullopt;
      if (typical == 0) typical = bytes;
      sum = saturating_sum(sum, saturating_product(bytes, elements(*sizes)));
    } else if (const std::vector<Sizes>* list = inputs.tensors(position)) {
      if (typical == 0) return std::nullopt;
      for (const Sizes& each : *list) {
        sum = saturating_sum(sum, saturating_product(typical, elements(each)));
      }
    }
  }
  return sum;
}

std::uint64_t traffic(const OperatorInputs& inputs, std::uint64_t output_elements, int typed_as) {
  const std::optional<std::uint64_t> read = input_bytes(inputs);
  const std::uint64_t element = inputs.element_bytes(typed_as);
  if (!read || element == 0) return 0;
  return saturating_sum(*read, saturating_product(element, output_elements));
}

std::optional<Work> product_work(const FlopRule& rule, const OperatorInputs& inputs,
                                 const OutsideInputs& outside) {
  const FlopRule fitting = with_added(rule, inputs);
  switch (fitting.formula) {
    case FlopFormula::product:
      return product(inputs.tensor(fitting.at[0]), inputs.tensor(fitting.at[1]), inputs);
    case FlopFormula::linear:
      return linear(inputs.tensor(fitting.at[0]), inputs.tensor(fitting.at[1]), inputs);
    case FlopFormula::grouped:
      return grouped(inputs.tensor(fitting.at[0]), inputs.tensor(fitting.at[1]), inputs);
    case FlopFormula::outer:
      return outer(inputs.tensor(fitting.at[0]), inputs.tensor(fitting.at[1]), inputs);
    case FlopFormula::attention:
    case FlopFormula::attention_by_sequence:
      return attention(fitting, inputs);
    case FlopFormula::attention_gradients:
    case FlopFormula::attention_gradients_by_sequence:
      return attention_gradients(fitting, inputs);
    case FlopFormula::recurrent:
    case FlopFormula::recurrent_layer:
    case FlopFormula::recurrent_gradients:
    case FlopFormula::recurrent_layer_gradients:
      return recurrent(fitting, inputs);
    default:
      return convolution_work(fitting, inputs, outside);
  }
}

std::optional<Work> element_work(const ElementRule& rule, const OperatorInputs& inputs) {
  if (rule.per == ElementCount::nothing) return Work{};
  const std::optional<std::uint64_t> count = element_count(rule, inputs);
  if (!count) return rule.operations == 0 ? std::optional(Work{}) : std::nullopt;
  Work work;
  work.flops = saturating_product(operations_of(rule, inputs), *count);
  if (rule.per == ElementCount::lists || rule.traffic == ElementTraffic::unknown) return work;
  work.bytes = rule.traffic == ElementTraffic::overwrites ? input_bytes(inputs).value_or(0)
                                                          : traffic(inputs, *count);
  return work;
}

}  // namespace tbtrace::analyses
