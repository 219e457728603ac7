#include "symbols/names/demangle.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string_view>

#include <cxxabi.h>

#include "symbols/names/demangled_size.h"

namespace tbtrace {
namespace {

/// Most names are plain text. Other characters than these occur in an encoding only within a name
/// (after its length), within a literal (after an `L`), or after a prefix of underscores.
bool is_plain_text(std::string_view name) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKMNOPQRSTUVWXYZ_.$";  // all but L
  if (name.starts_with('_')) return false;
  const std::size_t other = name.find_first_not_of(kLetters);
  if (other == std::string_view::npos) return false;
  const char c = name[other];
  return c != 'L' && (c < '0' || c > '9');
}

constexpr std::size_t kMostMade = std::size_t{16} << 20;  // bytes

std::optional<std::string> librarys_form(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  if (text == nullptr) return std::nullopt;
  return std::string(text.get());
}

}  // namespace

std::optional<std::string> demangle(const std::string& name, std::size_t limit) {
  // The library takes 1,024 bytes at most.
  constexpr std::size_t kLongestName = std::size_t{1} << 16;
  if (name.size() > kLongestName) return std::nullopt;
  if (name.find('\0') != std::string::npos) return std::nullopt;  // the library would stop there
  if (is_plain_text(name)) return std::nullopt;
  const auto most = static_cast<double>(std::max(limit, kMostMade));
  if (demangled_size_bound(name, most) > most) return std::nullopt;
  std::optional<std::string> text = librarys_form(name);
  if (text.has_value() && text->size() > limit) return std::nullopt;
  return text;
}

std::string demangled_own_name(const std::string& name) {
  return librarys_form(name).value_or(name);
}

}  // namespace tbtrace
