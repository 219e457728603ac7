#include "recorder/memory/operator_schemas.h"

#include <algorithm>
#include <cstddef>

namespace tbtrace::recorder {

namespace {

using Kind = ObservedInput::Kind;
using Type = SchemaArgument::Type;

bool has_storage(const ObservedTensor& tensor) { return tensor.address != 0; }

/// Tensors without memory count as nothing.
Kind kind_of(const ObservedInput& input) {
  if (input.kind == Kind::tensor && !has_storage(input.tensors.front())) return Kind::nothing;
  return input.kind;
}

bool fits(const ObservedInput& input, const SchemaArgument& argument) {
  const Kind kind = kind_of(input);
  if (argument.type == Type::anything) return true;
  if (argument.is_optional && kind == Kind::nothing) return true;
  switch (argument.type) {
    case Type::tensor:
      return kind == Kind::tensor;
    case Type::tensor_list:
      return kind == Kind::tensor_list && !input.has_undefined &&
             std::all_of(input.tensors.begin(), input.tensors.end(), has_storage);
    case Type::boolean:
      return kind == Kind::boolean;
    case Type::integer:
      return kind == Kind::integer || kind == Kind::boolean;
    case Type::real:
      return kind == Kind::real;
    case Type::complex:
      return kind == Kind::complex;
    case Type::number:
      return kind == Kind::integer || kind == Kind::boolean || kind == Kind::real ||
             kind == Kind::complex;
    default:
      return kind == Kind::nothing;
  }
}

}  // namespace

std::optional<std::vector<bool>> OperatorSchemas::written(std::string_view name,
                                                          std::span<const ObservedInput> inputs) {
  if (name.find("::") == std::string_view::npos) return std::nullopt;
  const auto [known, is_new] = known_.try_emplace(std::string(name));
  if (is_new) known->second = find_(known->first);
  std::optional<std::vector<bool>> written;
  for (const Schema& schema : known->second) {
    if (!std::equal(inputs.begin(), inputs.end(), schema.begin(), schema.end(), fits)) continue;
    if (!written) written.emplace(inputs.size(), false);
    for (std::size_t at = 0; at < schema.size(); ++at) {
      if (schema[at].is_written) (*written)[at] = true;
    }
  }
  return written;
}

}  // namespace tbtrace::recorder
