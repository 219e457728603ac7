#include "symbols/names/class_name.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace tbtrace {

namespace {

constexpr std::string_view kScope = "::";

/// The position of the last `::` outside of brackets, which hold names of other things.
std::size_t last_scope(std::string_view name) {
  std::size_t last = std::string_view::npos;
  std::size_t depth = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    const char c = name[at];
    if (c == '<' || c == '(' || c == '{') ++depth;
    if ((c == '>' || c == ')' || c == '}') && depth > 0) --depth;
    if (depth == 0 && name.substr(at).starts_with(kScope)) last = at;
  }
  return last;
}

/// `maxpool2d` of `MaxPool2d`, `max_pool2d` and `aten::max_pool2d_`.
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : last_part(name)) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) plain += static_cast<char>(std::tolower(byte));
  }
  return plain;
}

}  // namespace

std::string_view last_part(std::string_view name) {
  const std::size_t scope = last_scope(name);
  return scope == std::string_view::npos ? name : name.substr(scope + kScope.size());
}

std::string_view scope_of(std::string_view function) {
  const std::size_t scope = last_scope(function);
  return scope == std::string_view::npos ? std::string_view() : function.substr(0, scope);
}

std::string short_class_name(std::string_view name) {
  constexpr std::string_view kImpl = "Impl";
  name = last_part(name);
  const std::string_view arguments = name.substr(std::min(name.find('<'), name.size()));
  name.remove_suffix(arguments.size());
  if (name.size() > kImpl.size() && name.ends_with(kImpl)) name.remove_suffix(kImpl.size());
  return std::string(name) + std::string(arguments);
}

bool is_named_as(std::string_view class_name, std::string_view op) {
  return plain_name(class_name) == plain_name(op);
}

}  // namespace tbtrace
