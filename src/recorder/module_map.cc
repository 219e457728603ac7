#include "recorder/module_map.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string_view>

#include "base/demangle.h"

namespace tbtrace::recorder {

std::uint32_t ModuleMap::add(const void* instance, const std::string& type,
                             const std::string& path) {
  const auto row = static_cast<std::uint32_t>(modules_.size());
  const auto [known, is_new] = rows_.try_emplace(instance, row);
  if (!is_new) return known->second;
  Module module{.class_name = module_class(type), .path = path};
  module.number = class_counts_[module.class_name]++;
  if (const std::size_t dot = path.rfind('.'); dot != path.npos) {
    if (const auto parent = by_path_.find(path.substr(0, dot)); parent != by_path_.end()) {
      module.parent = parent->second;
    }
  }
  if (!path.empty()) by_path_.try_emplace(path, row);
  modules_.push_back(std::move(module));
  return row;
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
