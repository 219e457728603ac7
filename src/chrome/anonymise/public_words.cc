#include "chrome/anonymise/public_words.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/characters.h"
#include "chrome/anonymise/public_classes_text.h"
#include "chrome/anonymise/public_words_text.h"

namespace tbtrace::chrome {
namespace {

/// The lines of a sorted text that are not comments.
std::vector<std::string_view> lines_in(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string_view line = text.substr(at, end - at);
    if (!line.starts_with('#')) lines.push_back(line);
    at = end + 1;
  }
  return lines;
}

}  // namespace

std::span<const std::string_view> public_words() {
  static const std::vector<std::string_view> kWords = lines_in(kPublicWords);
  return kWords;
}

std::span<const std::string_view> public_classes() {
  static const std::vector<std::string_view> kClasses = lines_in(kPublicClasses);
  return kClasses;
}

bool is_public_word(std::string_view word) {
  return word.size() < 2 || std::ranges::binary_search(public_words(), lower_case(word));
}

bool is_public_class(std::string_view name) {
  return std::ranges::binary_search(public_classes(), name);
}

}  // namespace tbtrace::chrome
