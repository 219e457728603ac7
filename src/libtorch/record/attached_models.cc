#include "libtorch/record/attached_models.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <typeinfo>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <torch/csrc/jit/api/module.h>
#include <torch/nn/module.h>

#include "libtorch/record/input_encoding.h"

namespace tbtrace::libtorch {

namespace {

/// Where the tensor's elements begin in its storage.
const char* first_byte(const c10::TensorImpl& tensor) {
  return static_cast<const char*>(tensor.storage().unsafeGetStorageImpl()->data()) +
         tensor.storage_offset() * static_cast<std::int64_t>(tensor.itemsize());
}

const recorder::ModuleTensor* tensor_of_module(const c10::TensorImpl& tensor,
                                               const recorder::ModuleMap& modules) {
  if (!tensor.has_storage()) return nullptr;
  return modules.tensor(tensor.storage().unsafeGetStorageImpl(), first_byte(tensor));
}

}  // namespace

AttachedModels::Part AttachedModels::part_of(const torch::nn::Module& module,
                                             const std::string& path, const void* parent) {
  Part part{.instance = &module,
            .type = typeid(module).name(),
            .path = path,
            .parent = parent,
            .tensors = {}};
  const auto own = [&](const at::Tensor& tensor) {
    if (tensor.defined()) part.tensors.emplace_back(tensor.getIntrusivePtr());
  };
  for (const at::Tensor& parameter : module.parameters(/*recurse=*/false)) own(parameter);
  part.parameters = part.tensors.size();
  for (const at::Tensor& buffer : module.buffers(/*recurse=*/false)) own(buffer);
  return part;
}

bool AttachedModels::is_same(const Part& known, const Part& now) {
  return known.instance == now.instance && known.type == now.type &&
         known.tensors == now.tensors;  // weak pointers keep their addresses from being used again
}

AttachedModels::Part AttachedModels::part_of(const torch::jit::Module& module,
                                             const std::string& path, const void* parent) {
  const auto name = module.type()->name();
  Part part{.instance = module._ivalue().get(),
            .type = name ? name->name() : "Module",
            .path = path,
            .parent = parent,
            .tensors = {}};
  part.object.emplace(module._ivalue());
  const auto own = [&](const at::Tensor& tensor) {
    if (tensor.defined()) part.tensors.emplace_back(tensor.getIntrusivePtr());
  };
  for (const at::Tensor& parameter : module.parameters(/*recurse=*/false)) own(parameter);
  part.parameters = part.tensors.size();
  for (const at::Tensor& buffer : module.buffers(/*recurse=*/false)) own(buffer);
  return part;
}

bool AttachedModels::Part::is_gone() const {
  if (object && object->expired()) return true;
  return !tensors.empty() && std::all_of(tensors.begin(), tensors.end(),
                                         [](const auto& weak) { return weak.expired(); });
}

template <typename Module>
void AttachedModels::collect(const Module& module, const std::string& path, const void* parent,
                             std::vector<Part>& parts) {
  const void* const instance = parts.emplace_back(part_of(module, path, parent)).instance;
  for (const auto& child : module.named_children()) {
    if constexpr (std::is_same_v<Module, torch::jit::Module>) {
      collect(child.value, path + "." + child.name, instance, parts);
    } else {
      collect(*child.value(), path + "." + child.key(), instance, parts);
    }
  }
}

void AttachedModels::add(const torch::nn::Module& model, const std::string& name) {
  std::vector<Part> parts;
  collect(model, name, nullptr, parts);
  add_parts(std::move(parts));
}

void AttachedModels::add(const torch::jit::Module& model, const std::string& name) {
  std::vector<Part> parts;
  collect(model, name, nullptr, parts);
  add_parts(std::move(parts));
}

void AttachedModels::add_parts(std::vector<Part> parts) {
  const auto is_part_of_another = [&](const Part& known) {
    return known.parent != nullptr && is_same(known, parts.front());
  };
  if (std::any_of(parts_.begin(), parts_.end(), is_part_of_another)) return;
  std::erase_if(parts_, [&](const Part& known) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](const Part& now) { return now.instance == known.instance; });
  });
  std::move(parts.begin(), parts.end(), std::back_inserter(parts_));
}

std::int64_t AttachedModels::own_elements(const Part& part,
                                          std::unordered_set<const void*>& counted) {
  std::int64_t elements = 0;
  for (std::size_t at = 0; at < part.parameters; ++at) {
    const auto tensor = part.tensors[at].lock();
    if (!tensor.defined() || tensor->has_symbolic_sizes_strides()) continue;
    if (counted.insert(tensor.get()).second) elements += tensor->numel();
  }
  return elements;
}

std::shared_ptr<const recorder::ModuleMap> AttachedModels::map() const {
  if (parts_.empty()) return nullptr;
  struct Held {
    recorder::ModuleMap map;
    // Free nothing but keep addresses from being used again.
    std::vector<c10::weak_intrusive_ptr<c10::StorageImpl>> storages = {};
    std::vector<c10::weak_intrusive_ptr<c10::ivalue::Object>> objects = {};
  };
  auto held = std::make_shared<Held>();
  std::unordered_map<const void*, std::uint32_t> rows;  // by instance
  std::unordered_set<const void*> counted;              // parameters
  for (const Part& part : parts_) {
    if (part.is_gone()) continue;
    const auto found = rows.find(part.parent);
    const std::int64_t parent = found == rows.end() ? recorder::ModuleMap::kNone : found->second;
    if (part.object) held->objects.push_back(*part.object);
    const std::uint32_t module =
        part.object ? held->map.add_script(part.instance, part.type, part.path, parent)
                    : held->map.add(part.instance, part.type, part.path, parent);
    if (rows.emplace(part.instance, module).second) {
      held->map.set_parameters(module, own_elements(part, counted));
    }
    for (const auto& weak : part.tensors) {
      const auto tensor = weak.lock();
      if (!tensor.defined() || !tensor->has_storage()) continue;
      const c10::Storage storage = tensor->storage();
      held->storages.emplace_back(storage.getWeakStorageImpl());
      const char* const begin = first_byte(*tensor);
      held->map.own(
          storage.unsafeGetStorageImpl(),
          {.module = module,
           .begin = begin,
           .end = begin + tensor->numel() * static_cast<std::int64_t>(tensor->itemsize())});
    }
  }
  return {held, &held->map};
}

std::vector<recorder::KnownTensor> AttachedModels::known_tensors() const {
  std::vector<recorder::KnownTensor> known;
  const auto add = [&](const c10::TensorImpl& tensor, bool is_gradient) {
    if (tensor.layout() != c10::kStrided || tensor.has_symbolic_sizes_strides()) return;
    if (!tensor.has_storage()) return;
    std::int64_t elements = tensor.dim() == 0 ? 1 : 0;
    for (std::int64_t dim = 0; dim < tensor.dim(); ++dim) {
      elements = std::max(elements, tensor.size(dim) * tensor.stride(dim));
    }
    known.push_back({.address = key_of(*tensor.storage().unsafeGetStorageImpl()),
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

std::uint64_t script_module(c10::ArrayRef<const c10::IValue> inputs,
                            const recorder::ModuleMap& modules) {
  if (inputs.empty() || !inputs[0].isObject()) return 0;
  return static_cast<std::uint64_t>(modules.script(&inputs[0].toObjectRef()) + 1);
}

const recorder::ModuleTensor* module_tensor(c10::ArrayRef<const c10::IValue> inputs,
                                            bool has_sequence_number,
                                            const recorder::ModuleMap& modules) {
  const recorder::ModuleTensor* owned = nullptr;
  const c10::TensorImpl* first = nullptr;
  bool sizes_differ = false;
  const auto look_at = [&](const at::Tensor& tensor) {
    if (!tensor.defined() || tensor.is_nested()) return;
    const c10::TensorImpl* const impl = tensor.unsafeGetTensorImpl();
    if (impl->has_symbolic_sizes_strides()) return;
    const bool is_number = impl->dim() == 0;
    const recorder::ModuleTensor* const its =
        owned == nullptr || is_number ? tensor_of_module(*impl, modules) : nullptr;
    // A number, such as that which an optimizer scales a weight with, shows no forward pass.
    if (its == nullptr && is_number) return;
    if (first == nullptr) first = impl;
    sizes_differ = sizes_differ || impl->sizes() != first->sizes();
    if (owned == nullptr) owned = its;
  };
  for (const c10::IValue& input : inputs) {
    if (input.isTensor()) {
      look_at(input.toTensor());
    } else if (input.isTensorList()) {
      for (const c10::IValue& tensor : input.toListRef()) look_at(tensor.toTensor());
    }
  }
  return has_sequence_number || sizes_differ ? owned : nullptr;
}

}  // namespace tbtrace::libtorch
