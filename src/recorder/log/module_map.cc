#include "recorder/log/module_map.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "symbols/names/class_name.h"
#include "symbols/names/demangle.h"

namespace tbtrace::recorder {

std::uint32_t ModuleMap::add(const void* instance, const std::string& type, const std::string& path,
                             std::int64_t parent) {
  const auto row = static_cast<std::uint32_t>(modules_.size());
  const auto [known, is_new] = rows_.try_emplace({instance, type}, row);
  if (!is_new) return known->second;
  return add_module({.class_name = module_class(type),
                     .number = 0,
                     .path = path,
                     .parent = parent,
                     .parameters = -1});
}

std::uint32_t ModuleMap::add_script(const void* object, const std::string& class_name,
                                    const std::string& path, std::int64_t parent) {
  const auto row = static_cast<std::uint32_t>(modules_.size());
  const auto [known, is_new] = scripts_.try_emplace(object, row);
  const std::string name = path.substr(path.rfind('.') + 1);
  if (parent != kNone) parts_.try_emplace({parent, name}, known->second);
  if (!is_new) return known->second;
  return add_module(
      {.class_name = class_name, .number = 0, .path = path, .parent = parent, .parameters = -1});
}

std::uint32_t ModuleMap::part(std::uint32_t module, const std::string& name,
                              const std::string& class_name) {
  const auto row = static_cast<std::uint32_t>(modules_.size());
  const auto [known, is_new] = parts_.try_emplace({module, name}, row);
  if (!is_new) return known->second;
  return add_module({.class_name = class_name,
                     .number = 0,
                     .path = modules_[module].path + "." + name,
                     .parent = module,
                     .parameters = -1});
}

std::uint32_t ModuleMap::add_module(Module module) {
  module.number = class_counts_[module.class_name]++;
  modules_.push_back(std::move(module));
  return static_cast<std::uint32_t>(modules_.size() - 1);
}

void ModuleMap::own(const void* storage, const ModuleTensor& tensor) {
  modules_of_tensors_.push_back(tensor.module);
  ModuleTensor& own = tensors_[storage].emplace_back(tensor);
  own.number = static_cast<std::uint32_t>(modules_of_tensors_.size());
  if (own.begin == nullptr || own.begin == own.end) return;
  const auto [first, is_new] = numbers_.try_emplace({own.begin, own.end}, own.number);
  if (is_new || modules_of_tensors_[first->second - 1] == own.module) return;
  sharers_[first->second].push_back(own.module);
}

std::uint32_t ModuleMap::module_of(std::uint64_t tensor_number, std::string_view op) const {
  const std::uint32_t first = modules_of_tensors_[tensor_number - 1];
  const auto shared = sharers_.find(tensor_number);
  if (shared == sharers_.end()) return first;
  std::vector<std::uint32_t> rows = {first};
  rows.insert(rows.end(), shared->second.begin(), shared->second.end());
  const auto named = std::find_if(rows.begin(), rows.end(), [&](std::uint32_t row) {
    return is_named_as(modules_[row].class_name, op);
  });
  if (named != rows.end()) return *named;
  const auto other = std::find_if(rows.begin(), rows.end(), [&](std::uint32_t row) {
    return !modules_[row].class_name.starts_with("Embedding");
  });
  return other == rows.end() ? first : *other;
}

const ModuleTensor* ModuleMap::tensor(const void* storage, const void* address) const {
  const auto found = tensors_.find(storage);
  if (found == tensors_.end()) return nullptr;
  const auto& tensors = found->second;
  if (tensors.size() == 1) return &tensors.front();
  const auto* const byte = static_cast<const char*>(address);
  const auto holds = [&](const ModuleTensor& tensor) {
    return tensor.begin <= byte && byte < tensor.end;
  };
  const auto tensor = std::find_if(tensors.begin(), tensors.end(), holds);
  return tensor == tensors.end() ? nullptr : &*tensor;
}

std::string module_class(const std::string& type) {
  return short_class_name(demangled_own_name(type));
}

}  // namespace tbtrace::recorder
