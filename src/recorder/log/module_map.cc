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
