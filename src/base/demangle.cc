#include "base/demangle.h"

#include <cstdlib>
#include <memory>

#include <cxxabi.h>

#include "base/demangled_size.h"

namespace tbtrace {

std::optional<std::string> demangle(const std::string& name, std::size_t limit) {
  constexpr std::size_t kLongest = std::size_t{1} << 16;  // the library takes 1,024 bytes at most
  if (name.size() > kLongest) return std::nullopt;
  if (name.find('\0') != std::string::npos) return std::nullopt;  // the library would stop there
  const auto most = static_cast<double>(limit);
  if (demangled_size_bound(name, most) > most) return std::nullopt;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  if (text == nullptr) return std::nullopt;
  return std::string(text.get());
}

}  // namespace tbtrace
