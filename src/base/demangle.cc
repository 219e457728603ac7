#include "base/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace tbtrace {
namespace {

/// Substitutions (`S0_`) and template parameters (`T_`), or what looks like them.
std::size_t back_references(const std::string& name) {
  std::size_t count = 0;
  for (std::size_t at = 0; at + 1 < name.size(); ++at) {
    if (name[at] != 'S' && name[at] != 'T') continue;
    const char next = name[at + 1];
    if (next == '_' || (next >= '0' && next <= '9') || (next >= 'A' && next <= 'Z')) ++count;
  }
  return count;
}

}  // namespace

std::optional<std::string> demangle(const std::string& name, std::size_t limit) {
  const std::size_t doublings = back_references(name) / 2;
  if (doublings >= 32 || name.size() > limit >> doublings) return std::nullopt;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  if (text == nullptr) return std::nullopt;
  return std::string(text.get());
}

}  // namespace tbtrace
