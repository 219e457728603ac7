#include "analyses/torch/operator_flops.h"

#include <array>
#include <cstddef>
#include <optional>

#include "base/decimal.h"

namespace tbtrace::analyses {
namespace {

using SignedSizes = std::vector<std::int64_t>;

/// The sizes of an argument if it is a tensor; else nullptr.
const SignedSizes* tensor(const OperatorArguments& arguments, std::size_t input) {
  if (input >= arguments.dims.size() || input >= arguments.types.size()) return nullptr;
  const std::string& type = arguments.types[input];
  if (type.empty() || type == "Scalar" || type == "ScalarList" || type == "TensorList") {
    return nullptr;
  }
  return &arguments.dims[input].sizes;
}

std::uint64_t product(const SignedSizes& sizes) {
  std::uint64_t value = 1;
  for (const std::int64_t size : sizes) value *= static_cast<std::uint64_t>(size);
  return value;
}

/// 2 * rows * inner * columns [* batches]: the product of all sizes, divided by those in both
/// factors.
std::uint64_t matrix_product(const SignedSizes* left, const SignedSizes* right, bool batched) {
  if (left == nullptr || right == nullptr || left->empty()) return 0;
  const auto inner = static_cast<std::uint64_t>(left->back());
  const auto batches = static_cast<std::uint64_t>(left->front());
  if (inner == 0 || (batched && batches == 0)) return 0;
  std::uint64_t flops = product(*left) / inner;
  if (batched) flops /= batches;
  return flops * product(*right) * 2;
}

std::uint64_t convolution(const OperatorArguments& arguments) {
  const SignedSizes* input = tensor(arguments, 0);
  const SignedSizes* weight = tensor(arguments, 1);
  if (arguments.dims.size() < 7 || arguments.concrete.size() < 7) return 0;
  if (input == nullptr || weight == nullptr || input->size() != 4 || weight->size() != 4) return 0;
  SignedSizes stride;
  SignedSizes padding;
  SignedSizes dilation;
  const bool lists = parse_integers(arguments.concrete[3], stride) &&
                     parse_integers(arguments.concrete[4], padding) &&
                     parse_integers(arguments.concrete[5], dilation);
  const std::optional<std::int64_t> groups = parse_integer(arguments.concrete[6]);
  if (!lists || !groups || *groups == 0) return 0;
  if (stride.size() != 2 || padding.size() != 2 || dilation.size() != 2) return 0;
  std::array<std::uint64_t, 2> output = {};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    if (stride[axis] == 0) return 0;
    // Unsigned arithmetic: sizes from a damaged file must not overflow.
    const auto size = static_cast<std::uint64_t>((*input)[axis + 2]);
    const auto kernel = static_cast<std::uint64_t>((*weight)[axis + 2]);
    const std::uint64_t free = size + 2 * static_cast<std::uint64_t>(padding[axis]) -
                               static_cast<std::uint64_t>(dilation[axis]) * (kernel - 1) - 1;
    const auto signed_free = static_cast<std::int64_t>(free);
    if (signed_free == INT64_MIN && stride[axis] == -1) return 0;
    output[axis] = static_cast<std::uint64_t>(signed_free / stride[axis]) + 1;
  }
  const auto size_of = [](const SignedSizes& sizes, std::size_t axis) {
    return static_cast<std::uint64_t>(sizes[axis]);
  };
  return 2 * size_of(*input, 0) * output[0] * output[1] * size_of(*weight, 2) *
         size_of(*weight, 3) * size_of(*input, 1) * size_of(*weight, 0) /
         static_cast<std::uint64_t>(*groups);
}

enum class Formula : std::uint8_t { matrix, added_matrix, batched, added_batched, elements, conv };

struct FlopRow {
  std::string_view name;
  Formula formula;
};

constexpr std::array kRows = std::to_array<FlopRow>({
    {"aten::mm", Formula::matrix},
    {"aten::addmm", Formula::added_matrix},
    {"aten::bmm", Formula::batched},
    {"aten::baddbmm", Formula::added_batched},
    {"aten::mul", Formula::elements},
    {"aten::add", Formula::elements},
    {"aten::conv2d", Formula::conv},
});

const FlopRow* find(std::string_view name) {
  for (const FlopRow& row : kRows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace

bool has_flops(std::string_view name) { return find(name) != nullptr; }

std::uint64_t operator_flops(std::string_view name, const OperatorArguments& arguments) {
  const FlopRow* row = find(name);
  if (row == nullptr) return 0;
  const SignedSizes* first = tensor(arguments, 0);
  switch (row->formula) {
    case Formula::matrix:
      return matrix_product(first, tensor(arguments, 1), false);
    case Formula::added_matrix:
      return first == nullptr ? 0
                              : matrix_product(tensor(arguments, 1), tensor(arguments, 2), false);
    case Formula::batched:
      return matrix_product(first, tensor(arguments, 1), true);
    case Formula::added_batched:
      return first == nullptr ? 0
                              : matrix_product(tensor(arguments, 1), tensor(arguments, 2), true);
    case Formula::elements:
      return first == nullptr ? 0 : product(*first);
    case Formula::conv:
      return convolution(arguments);
  }
  return 0;
}

}  // namespace tbtrace::analyses
