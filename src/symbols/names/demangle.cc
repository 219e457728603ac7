#include "symbols/names/demangle.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string_view>

#include <cxxabi.h>

#include "base/characters.h"
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

/// Types that the library of GCC 12 and older does not know, C++23's and those of C23. Each stands
/// for a type of the same grammar that GPU code does not use (it is not a part that encodings refer
/// to), and whose text is replaced afterwards.
struct NewerType {
  std::string_view encoding;
  std::string_view text;
  std::string_view stand_in;
  std::string_view text_of_stand_in;
};
constexpr auto kNewerTypes = std::to_array<NewerType>({
    {"DF16b", "std::bfloat16_t", "De", "decimal128"},
    {"DF16_", "_Float16", "Dd", "decimal64"},
    {"DF32_", "_Float32", "Df", "decimal32"},
    {"DF64_", "_Float64", "Dh", "half"},
});

bool is_of_word(char c) { return is_digit(c) || is_letter(c) || c == '_'; }

/// Replaces a word of a text.
void replace_word(std::string& text, std::string_view word, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos;) {
    const std::size_t end = at + word.size();
    const bool starts = at == 0 || !is_of_word(text[at - 1]);
    const bool ends = end == text.size() || !is_of_word(text[end]);
    if (!starts || !ends) {
      at = end;
      continue;
    }
    text.replace(at, word.size(), by);
    at += by.size();
  }
}

bool has_newer_types(const std::string& name) {
  return std::ranges::any_of(kNewerTypes, [&](const NewerType& type) {
    return name.find(type.encoding) != std::string::npos;
  });
}

/// The name with stand-ins; nullopt if it has the text of one already.
std::optional<std::string> with_stand_ins(const std::string& name) {
  std::string text;
  std::size_t at = 0;
  while (at < name.size()) {
    const std::string_view rest = std::string_view(name).substr(at);
    const auto* const type = std::ranges::find_if(
        kNewerTypes, [&](const NewerType& each) { return rest.starts_with(each.encoding); });
    if (type == kNewerTypes.end()) {
      text += name[at++];
      continue;
    }
    if (name.find(type->text_of_stand_in) != std::string::npos) return std::nullopt;
    text += type->stand_in;
    at += type->encoding.size();
  }
  return text;
}

std::optional<std::string> bounded_form(const std::string& name, std::size_t limit) {
  const auto most = static_cast<double>(std::max(limit, kMostMade));
  if (demangled_size_bound(name, most) > most) return std::nullopt;
  return librarys_form(name);
}

}  // namespace

std::optional<std::string> demangle(const std::string& name, std::size_t limit) {
  // The library takes 1,024 bytes at most.
  constexpr std::size_t kLongestName = std::size_t{1} << 16;
  if (name.size() > kLongestName) return std::nullopt;
  if (name.find('\0') != std::string::npos) return std::nullopt;  // the library would stop there
  if (is_plain_text(name)) return std::nullopt;
  const bool is_newer = has_newer_types(name);
  const std::optional<std::string> readable = is_newer ? with_stand_ins(name) : name;
  std::optional<std::string> text = readable ? bounded_form(*readable, limit) : std::nullopt;
  if (is_newer && text) {
    for (const NewerType& type : kNewerTypes) replace_word(*text, type.text_of_stand_in, type.text);
  }
  if (text.has_value() && text->size() > limit) return std::nullopt;
  return text;
}

std::string demangled_own_name(const std::string& name) {
  return librarys_form(name).value_or(name);
}

}  // namespace tbtrace
