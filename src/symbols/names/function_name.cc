#include "symbols/names/function_name.h"

#include <algorithm>
#include <cstddef>

namespace tbtrace {
namespace {

constexpr std::string_view kNoResult = "void ";
constexpr std::string_view kOperator = "operator";

/// Position of the first `<` that opens template arguments, not one of `operator<` or `operator<<`;
/// npos if there is none.
std::size_t template_start(std::string_view name) {
  std::size_t at = name.find('<');
  while (at != std::string_view::npos && name.substr(0, at).ends_with(kOperator)) {
    at = name.find('<', name.find_first_not_of("<=>", at));
  }
  return at;
}

}  // namespace

std::string_view without_signature(std::string_view name) {
  if (name.starts_with(kNoResult)) name.remove_prefix(kNoResult.size());
  if (!name.ends_with(')')) return name;
  std::size_t open = 0;
  for (std::size_t at = name.size(); at-- > 0;) {
    if (name[at] == ')') ++open;
    if (name[at] == '(' && --open == 0) return at > 0 ? name.substr(0, at) : name;
  }
  return name;
}

std::string_view without_namespaces(std::string_view name) {
  const std::size_t end = std::min(template_start(name), name.size());
  const std::size_t colons = name.substr(0, end).rfind("::");
  return colons == std::string_view::npos ? name : name.substr(colons + 2);
}

std::string_view without_template_arguments(std::string_view name) {
  return name.substr(0, template_start(name));
}

std::string_view template_arguments(std::string_view name) {
  const std::size_t start = template_start(name);
  if (start == std::string_view::npos) return {};
  std::size_t open = 0;
  for (std::size_t at = start; at < name.size(); ++at) {
    if (name[at] == '<') ++open;
    if (name[at] == '>' && name[at - 1] != '-' && --open == 0) {
      return name.substr(start + 1, at - start - 1);
    }
  }
  return name.substr(start + 1);
}

}  // namespace tbtrace
