#include "recorder/module_map.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string_view>

#include "base/demangle.h"

namespace tbtrace::recorder {

std::uint32_t ModuleMap::add(const void* instance, const std::string& type, const std::string& path,
                             std::int64_t parent) {
  const auto row = static_cast<std::uint32_t>(modules_.size());
  const auto [known, is_new] = rows_.try_emplace({instance, type}, row);
  if (!is_new) return known->second;
  Module module{.class_name = module_class(type), .number = 0, .path = path, .parent = parent};
  module.number = class_counts_[module.class_name]++;
  modules_.push_back(std::move(module));
  return row;
}

void ModuleMap::own(const void* storage, const ModuleTensor& tensor) {
  tensors_[storage].push_back(tensor);
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
  constexpr std::string_view kImpl = "Impl";
  const std::string readable =
      demangle(type, std::numeric_limits<std::size_t>::max()).value_or(type);
  std::string_view name = readable;
  // Brackets hold names of other things.
  std::size_t start = 0;
  std::size_t depth = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    const char c = name[at];
    if (c == '<' || c == '(' || c == '{') ++depth;
    if ((c == '>' || c == ')' || c == '}') && depth > 0) --depth;
    if (depth == 0 && name.substr(at).starts_with("::")) start = at + 2;
  }
  name = name.substr(start);
  const std::string_view arguments = name.substr(std::min(name.find('<'), name.size()));
  name.remove_suffix(arguments.size());
  if (name.size() > kImpl.size() && name.ends_with(kImpl)) name.remove_suffix(kImpl.size());
  return std::string(name) + std::string(arguments);
}

}  // namespace tbtrace::recorder
