#include "libtorch/modules.h"

#include <algorithm>
#include <cstdint>
#include <typeinfo>
#include <utility>

#include <torch/nn/module.h>

namespace tbtrace::libtorch {

namespace {

/// Of a tensor's memory; tensors that share it are one.
const void* storage_of(const c10::TensorImpl& tensor) {
  return tensor.has_storage() ? tensor.storage().unsafeGetStorageImpl() : nullptr;
}

}  // namespace

void AttachedModels::add(const torch::nn::Module& model, const std::string& name) {
  const auto add_part = [&](const torch::nn::Module& module, const std::string& path) {
    Part part{.instance = &module, .type = typeid(module).name(), .path = path, .tensors = {}};
    const auto own = [&](const at::Tensor& tensor) {
      if (tensor.defined()) part.tensors.emplace_back(tensor.getIntrusivePtr());
    };
    for (const at::Tensor& parameter : module.parameters(/*recurse=*/false)) own(parameter);
    part.parameters = part.tensors.size();
    for (const at::Tensor& buffer : module.buffers(/*recurse=*/false)) own(buffer);
    parts_.push_back(std::move(part));
  };
  add_part(model, name);
  // Its other list of modules begins with the model itself, which must be owned by a shared_ptr
  // then.
  for (const auto& child : model.named_modules(name, /*include_self=*/false)) {
    add_part(*child.value(), child.key());
  }
}

std::shared_ptr<const recorder::ModuleMap> AttachedModels::map() const {
  if (parts_.empty()) return nullptr;
  auto map = std::make_shared<recorder::ModuleMap>();
  for (const Part& part : parts_) {
    const std::uint32_t module = map->add(part.instance, part.type, part.path);
    for (const auto& weak : part.tensors) {
      const auto tensor = weak.lock();
      if (!tensor.defined()) continue;
      if (const void* const storage = storage_of(*tensor)) map->own(storage, module);
    }
  }
  return map;
}

std::vector<recorder::KnownTensor> AttachedModels::known_tensors() const {
  std::vector<recorder::KnownTensor> known;
  const auto add = [&](const c10::TensorImpl& tensor, bool is_gradient) {
    if (tensor.layout() != c10::kStrided || tensor.has_symbolic_sizes_strides()) return;
    if (!tensor.has_storage()) return;
    const void* const data = tensor.storage().unsafeGetStorageImpl()->data();
    std::int64_t elements = tensor.dim() == 0 ? 1 : 0;
    for (std::int64_t dim = 0; dim < tensor.dim(); ++dim) {
      elements = std::max(elements, tensor.size(dim) * tensor.stride(dim));
    }
    known.push_back({.address = reinterpret_cast<std::uintptr_t>(data),
                     .bytes = static_cast<std::uint64_t>(elements) * tensor.itemsize(),
                     .is_gradient = is_gradient});
  };
  for (const Part& part : parts_) {
    for (std::size_t at = 0; at < part.parameters; ++at) {
      const auto tensor = part.tensors[at].lock();
      if (!tensor.defined()) continue;
      add(*tensor, false);
      const at::Tensor& gradient = tensor->grad();
      if (gradient.defined()) add(*gradient.unsafeGetTensorImpl(), true);
    }
  }
  return known;
}

const void* module_tensor(c10::ArrayRef<const c10::IValue> inputs, bool has_sequence_number,
                          const recorder::ModuleMap& modules) {
  const c10::TensorImpl* owned = nullptr;
  const c10::TensorImpl* other = nullptr;  // one of other sizes than the first
  const c10::TensorImpl* first = nullptr;
  const auto look_at = [&](const at::Tensor& tensor) {
    if (!tensor.defined() || tensor.is_nested()) return;
    const c10::TensorImpl* const impl = tensor.unsafeGetTensorImpl();
    if (impl->has_symbolic_sizes_strides()) return;
    if (first == nullptr) first = impl;
    if (impl->sizes() != first->sizes()) other = impl;
    if (owned != nullptr) return;
    const void* const storage = storage_of(*impl);
    if (storage != nullptr && modules.owner(storage)) owned = impl;
  };
  for (const c10::IValue& input : inputs) {
    if (input.isTensor()) {
      look_at(input.toTensor());
    } else if (input.isTensorList()) {
      for (const c10::IValue& tensor : input.toListRef()) look_at(tensor.toTensor());
    }
  }
  if (owned == nullptr || (!has_sequence_number && other == nullptr)) return nullptr;
  return storage_of(*owned);
}

}  // namespace tbtrace::libtorch
