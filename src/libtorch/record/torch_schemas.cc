#include "libtorch/record/torch_schemas.h"

#include <ATen/core/function_schema.h>
#include <ATen/core/jit_type.h>
#include <ATen/core/symbol.h>
#include <c10/util/Exception.h>
#include <torch/csrc/jit/runtime/operator.h>

namespace tbtrace::libtorch {

namespace {

using Type = recorder::SchemaArgument::Type;

Type type_of(const c10::Type& type) {
  if (type.isSubtypeOf(*c10::ListType::ofTensors())) return Type::tensor_list;
  switch (type.kind()) {
    case c10::TypeKind::AnyType:
      return Type::anything;
    case c10::TypeKind::TensorType:
      return Type::tensor;
    case c10::TypeKind::BoolType:
      return Type::boolean;
    case c10::TypeKind::IntType:
      return Type::integer;
    case c10::TypeKind::FloatType:
      return Type::real;
    case c10::TypeKind::ComplexType:
      return Type::complex;
    case c10::TypeKind::NumberType:
      return Type::number;
    default:
      return Type::other;
  }
}

}  // namespace

std::vector<recorder::Schema> schemas_of(const std::string& name) {
  std::vector<recorder::Schema> schemas;
  try {
    for (const auto& op : torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(name))) {
      recorder::Schema& schema = schemas.emplace_back();
      for (const c10::Argument& argument : op->schema().arguments()) {
        const auto optional = argument.type()->cast<c10::OptionalType>();
        const c10::AliasInfo* const alias = argument.alias_info();
        schema.push_back(
            {.type = type_of(optional ? *optional->getElementType() : *argument.type()),
             .is_optional = optional != nullptr,
             .is_written = alias != nullptr && alias->isWrite()});
      }
    }
  } catch (const c10::Error&) {
    return {};  // ranges of users have such names
  }
  return schemas;
}

}  // namespace tbtrace::libtorch
