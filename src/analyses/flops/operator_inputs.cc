#include "analyses/flops/operator_inputs.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/bounded_sum.h"
#include "base/characters.h"
#include "base/decimal.h"
#include "trace/input_lists.h"

namespace tbtrace::analyses {
namespace {

struct TypeSize {
  std::string_view name;
  std::uint64_t bytes;
};

// Source: c10/core/ScalarType.h, caffe2/core/typeid.h (names of types), 2020 to 2026.
constexpr std::array kTypeSizes = std::to_array<TypeSize>({
    {"float", 4},
    {"double", 8},
    {"c10::Half", 2},
    {"c10::BFloat16", 2},
    {"c10::Float8_e5m2", 1},
    {"c10::Float8_e4m3fn", 1},
    {"c10::Float8_e5m2fnuz", 1},
    {"c10::Float8_e4m3fnuz", 1},
    {"c10::Float8_e8m0fnu", 1},
    {"c10::complex<float>", 8},
    {"c10::complex<double>", 16},
    {"c10::complex<c10::Half>", 4},
    {"c10::qint8", 1},
    {"c10::quint8", 1},
    {"c10::qint32", 4},
    {"long int", 8},
    {"long", 8},
    {"long long", 8},
    {"int", 4},
    {"short int", 2},
    {"short", 2},
    {"signed char", 1},
    {"unsigned char", 1},
    {"bool", 1},
});

/// What Kineto writes in place of the type of an input that is not a tensor.
bool is_type_of_tensor(std::string_view type) {
  constexpr std::array<std::string_view, 9> kOthers = {
      "", "Scalar", "ScalarList", "TensorList", "GenericList", "Int", "Bool", "Double", "None"};
  return std::find(kOthers.begin(), kOthers.end(), type) == kOthers.end();
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::optional<bool> truth(std::string_view text) {
  if (text == "True" || text == "true") return true;
  if (text == "False" || text == "false") return false;
  return std::nullopt;
}

}  // namespace

OperatorInputs::OperatorInputs(std::string_view dims, std::string_view types,
                               std::string_view values)
    : shapes_(parse_shapes(dims)), types_(parse_texts(types)), values_(parse_texts(values)) {}

std::vector<OperatorInputs::Shape> OperatorInputs::parse_shapes(std::string_view json) {
  std::vector<Shape> shapes;
  int depth = 0;  // 1: between inputs, 2: in an input, 3: in a tensor of a list
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (c == '[') {
      ++depth;
      if (depth == 2) shapes.emplace_back();
      if (depth < 3) continue;
      Shape& list = shapes.back();
      list.is_list = true;
      if (depth > 3) list.is_valid = false;
      if (depth == 3) list.tensors.emplace_back();
    } else if (c == ']') {
      if (--depth <= 0) break;
    } else if (c == '-' || is_digit(c)) {
      const std::size_t end = std::min(json.find_first_of(",] []", at), json.size());
      const std::optional<std::int64_t> size = parse_integer(json.substr(at, end - at));
      at = end - 1;
      if (depth < 2) continue;
      Shape& shape = shapes.back();
      if (!size || *size < 0) {
        shape.is_valid = false;
      } else if (depth == 2) {
        shape.sizes.push_back(static_cast<std::uint64_t>(*size));
      } else if (depth == 3) {
        shape.tensors.back().push_back(static_cast<std::uint64_t>(*size));
      }
    } else if (depth >= 2 && c != ',' && c != ' ') {
      shapes.back().is_valid = false;
    }
  }
  return shapes;
}

const OperatorInputs::Shape* OperatorInputs::shape(int position) const {
  const auto at = static_cast<std::size_t>(position);
  return position >= 0 && at < shapes_.size() && shapes_[at].is_valid ? &shapes_[at] : nullptr;
}

const Sizes* OperatorInputs::tensor(int position) const {
  const Shape* found = shape(position);
  if (found == nullptr || found->is_list) return nullptr;
  // Without a type, or of a number, the sizes are [], as of a tensor of one element.
  if (found->sizes.empty() && !is_type_of_tensor(type(position))) return nullptr;
  return &found->sizes;
}

const std::vector<Sizes>* OperatorInputs::tensors(int position) const {
  const Shape* found = shape(position);
  const bool is_known = found != nullptr && found->is_list && found->sizes.empty();
  return is_known ? &found->tensors : nullptr;
}

std::string_view OperatorInputs::value(int position) const {
  const auto at = static_cast<std::size_t>(position);
  return position >= 0 && at < values_.size() ? without_blanks(values_[at]) : std::string_view();
}

std::optional<std::vector<std::int64_t>> OperatorInputs::integers(int position) const {
  std::vector<std::int64_t> values;
  if (!parse_integers(value(position), values)) return std::nullopt;
  return values;
}

std::optional<std::int64_t> OperatorInputs::integer(int position) const {
  return parse_integer(value(position));
}

std::optional<bool> OperatorInputs::flag(int position) const { return truth(value(position)); }

std::optional<std::vector<bool>> OperatorInputs::flags(int position) const {
  std::string_view text = value(position >= 0 ? position : static_cast<int>(values_.size()) - 1);
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::vector<bool> flags;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::optional<bool> flag = truth(without_blanks(text.substr(0, comma)));
    if (!flag) return std::nullopt;
    flags.push_back(*flag);
    if (comma == std::string_view::npos) return flags;
    text.remove_prefix(comma + 1);
  }
}

std::string_view OperatorInputs::type(int position) const {
  const auto at = static_cast<std::size_t>(position);
  return position >= 0 && at < types_.size() ? std::string_view(types_[at]) : std::string_view();
}

std::uint64_t OperatorInputs::element_bytes(int position) const {
  return bytes_of_type(type(position));
}

std::uint64_t elements(const Sizes& sizes) {
  // A size of 0 makes the product 0, wherever it is.
  if (std::find(sizes.begin(), sizes.end(), 0U) != sizes.end()) return 0;
  std::uint64_t product = 1;
  for (const std::uint64_t size : sizes) product = saturating_product(product, size);
  return product;
}

std::uint64_t bytes_of_type(std::string_view type) {
  const auto* found = std::find_if(kTypeSizes.begin(), kTypeSizes.end(),
                                   [&](const TypeSize& row) { return row.name == type; });
  return found == kTypeSizes.end() ? 0 : found->bytes;
}

}  // namespace tbtrace::analyses
