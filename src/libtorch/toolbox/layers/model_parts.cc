#include "libtorch/toolbox/layers/model_parts.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>

#include <c10/core/ScalarType.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/nn/module.h>

#include "recorder/log/module_map.h"

namespace tbtrace::libtorch {
namespace {

std::string path_in(const std::string& around, const std::string& name) {
  return around.empty() ? name : around + "." + name;
}

/// Fills ModelParts from either kind of module.
class Parts {
 public:
  /// The part's number.
  std::size_t add_part(const std::string& name, std::string type, std::optional<std::size_t> parent,
                       const void* instance) {
    const std::size_t number = found_.parts.size();
    ModelPart part;
    part.path = parent ? path_in(found_.parts[*parent].path, name) : std::string();
    part.name = parent ? name : type;
    part.type = std::move(type);
    part.parent = parent;
    part.is_again = !instances_.insert(instance).second;
    if (parent) found_.parts[*parent].children.push_back(number);
    found_.parts.push_back(std::move(part));
    return number;
  }

  void add_tensor(std::size_t part, const std::string& name, const at::Tensor& tensor,
                  bool is_parameter) {
    if (!tensor.defined()) return;
    const std::size_t number = found_.tensors.size();
    const auto [known, is_new] = first_with_.try_emplace(key_of(tensor), number);
    found_.tensors.push_back({.path = path_in(found_.parts[part].path, name),
                              .part = part,
                              .is_parameter = is_parameter,
                              .tensor = tensor,
                              .same_as = is_new ? number : known->second});
    for (std::optional<std::size_t> at = part; at; at = found_.parts[*at].parent) {
      found_.parts[*at].has_tensors = true;
    }
  }

  ModelParts take() { return std::move(found_); }

 private:
  /// The same elements: the tensor itself, or another one of the same memory.
  using Key = std::tuple<const void*, std::int64_t, std::uint64_t>;

  static Key key_of(const at::Tensor& tensor) {
    const void* const storage = storage_of(tensor);
    if (storage == nullptr) return {tensor.unsafeGetTensorImpl(), 0, 0};
    return {storage, tensor.storage_offset(), elements_of(tensor)};
  }

  ModelParts found_;
  std::unordered_set<const void*> instances_;
  std::map<Key, std::size_t> first_with_;
};

void collect(Parts& parts, const torch::nn::Module& module, const std::string& name,
             std::optional<std::size_t> parent) {
  const std::size_t part =
      parts.add_part(name, recorder::module_class(typeid(module).name()), parent, &module);
  for (const auto& entry : module.named_parameters(/*recurse=*/false)) {
    parts.add_tensor(part, entry.key(), entry.value(), true);
  }
  for (const auto& entry : module.named_buffers(/*recurse=*/false)) {
    parts.add_tensor(part, entry.key(), entry.value(), false);
  }
  for (const auto& child : module.named_children()) {
    collect(parts, *child.value(), child.key(), part);
  }
}

/// `Conv2d` of `__torch__.torch.nn.modules.conv.___torch_mangle_3.Conv2d`.
std::string class_of(const torch::jit::Module& module) {
  const auto name = module.type()->name();
  return name ? name->name() : std::string("Module");
}

void collect(Parts& parts, const torch::jit::Module& module, const std::string& name,
             std::optional<std::size_t> parent) {
  const std::size_t part = parts.add_part(name, class_of(module), parent, module._ivalue().get());
  for (const auto& entry : module.named_parameters(/*recurse=*/false)) {
    parts.add_tensor(part, entry.name, entry.value, true);
  }
  for (const auto& entry : module.named_buffers(/*recurse=*/false)) {
    parts.add_tensor(part, entry.name, entry.value, false);
  }
  for (const auto& child : module.named_children()) {
    collect(parts, child.value, child.name, part);
  }
}

}  // namespace

ModelParts parts_of(const torch::nn::Module& model) {
  Parts parts;
  collect(parts, model, "", std::nullopt);
  return parts.take();
}

ModelParts parts_of(const torch::jit::Module& model) {
  Parts parts;
  collect(parts, model, "", std::nullopt);
  return parts.take();
}

std::uint64_t elements_of(const at::Tensor& tensor) {
  if (!tensor.defined()) return 0;
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  if (tensor.is_nested() || impl.has_symbolic_sizes_strides()) return 0;
  return static_cast<std::uint64_t>(tensor.numel());
}

std::uint64_t bytes_of(const at::Tensor& tensor) {
  return tensor.defined() ? elements_of(tensor) * tensor.itemsize() : 0;
}

std::string number_type_of(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kByte:
      return "uint8";
    case at::kChar:
      return "int8";
    case at::kShort:
      return "int16";
    case at::kInt:
      return "int32";
    case at::kLong:
      return "int64";
    case at::kHalf:
      return "float16";
    case at::kFloat:
      return "float32";
    case at::kDouble:
      return "float64";
    case at::kBool:
      return "bool";
    case at::kBFloat16:
      return "bfloat16";
    case at::kComplexFloat:
      return "complex64";
    case at::kComplexDouble:
      return "complex128";
    default:
      break;
  }
  std::string name = c10::toString(tensor.scalar_type());
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

TensorShape shape_of(const at::Tensor& tensor) {
  TensorShape shape;
  shape.type = number_type_of(tensor);
  const c10::TensorImpl& impl = *tensor.unsafeGetTensorImpl();
  if (!tensor.is_nested() && !impl.has_symbolic_sizes_strides()) shape.sizes = tensor.sizes().vec();
  return shape;
}

const void* storage_of(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.has_storage()) return nullptr;
  const c10::StorageImpl* const storage = tensor.storage().unsafeGetStorageImpl();
  return storage;
}

bool is_on_cuda(const ModelParts& model) {
  return std::any_of(model.tensors.begin(), model.tensors.end(),
                     [](const ModelTensor& known) { return known.tensor.is_cuda(); });
}

}  // namespace tbtrace::libtorch
