#include "base/demangle.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include <cxxabi.h>

namespace tbtrace {
namespace {

constexpr double kLongestOfOne = 20;  // what one character may stand for, `y` for instance

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The number in a substitution, `S_` or `S4Z_`, at the start of `text`.
std::optional<std::size_t> substitution(std::string_view text) {
  constexpr std::size_t kMostDigits = 6;
  if (!text.starts_with('S')) return std::nullopt;
  std::size_t number = 0;
  for (std::size_t at = 1; at < text.size() && at <= kMostDigits + 1; ++at) {
    const char c = text[at];
    if (c == '_') return at == 1 ? 0 : number + 1;
    if (!is_digit(c) && (c < 'A' || c > 'Z')) return std::nullopt;
    number = number * 36 + static_cast<std::size_t>(is_digit(c) ? c - '0' : c - 'A' + 10);
  }
  return std::nullopt;
}

/// `T_` or `T3_`.
bool is_template_parameter(std::string_view text) {
  if (!text.starts_with('T')) return false;
  std::size_t at = 1;
  while (at < text.size() && is_digit(text[at])) ++at;
  return at < text.size() && text[at] == '_';
}

/// What the text of a name cannot be longer than.
double longest_text(std::string_view name) {
  double size = 0;            // of what comes before
  double copies = 1;          // that nested pack expansions make of it
  bool conversion = false;    // its parameters may stand before what they stand for
  std::vector<double> parts;  // by number, the longest that a substitution can be
  for (std::size_t at = 0; at < name.size(); ++at) {
    const std::string_view rest = name.substr(at);
    size += kLongestOfOne;
    if (const std::optional<std::size_t> number = substitution(rest)) {
      // Parts are numbered as they end, so this one and all before it ended before this place.
      const std::size_t part = std::min(*number, name.size());
      if (part >= parts.size()) parts.resize(part + 1, size);
      size += parts[part];
    } else if (is_template_parameter(rest)) {
      if (conversion) return std::numeric_limits<double>::infinity();
      size *= 2;
    } else if (rest.starts_with("Dp")) {
      copies *= static_cast<double>(name.size());
    } else if ((rest[0] == 'C' || rest[0] == 'D') && rest.size() > 1 && is_digit(rest[1])) {
      size += static_cast<double>(at);  // a constructor repeats the name of its class
    } else if (rest.starts_with("cv")) {
      conversion = true;
    }
  }
  return size * copies;
}

}  // namespace

std::optional<std::string> demangle(const std::string& name, std::size_t limit) {
  const auto most = static_cast<double>(limit);
  if (name.find('\0') != std::string::npos) return std::nullopt;  // the library would stop there
  if (kLongestOfOne * static_cast<double>(name.size()) > most) return std::nullopt;
  if (longest_text(name) > most) return std::nullopt;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  if (text == nullptr) return std::nullopt;
  return std::string(text.get());
}

}  // namespace tbtrace
