#include "chrome/anonymise/public_words.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/characters.h"
#include "chrome/anonymise/public_classes_text.h"
#include "chrome/anonymise/public_words_text.h"

namespace tbtrace::chrome {
namespace {

/// The words of a sorted text, in the lines that are not comments.
std::vector<std::string_view> words_in(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '#') {
      at = text.find('\n', at) + 1;
      continue;
    }
    const std::size_t end = text.find_first_of(" \n", at);
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

}  // namespace

std::span<const std::string_view> public_words() {
  static const std::vector<std::string_view> kWords = words_in(kPublicWords);
  return kWords;
}

std::span<const std::string_view> public_classes() {
  static const std::vector<std::string_view> kClasses = words_in(kPublicClasses);
  return kClasses;
}

bool is_public_word(std::string_view word) {
  return word.size() < 2 || std::ranges::binary_search(public_words(), lower_case(word));
}

bool is_public_class(std::string_view name) {
  return std::ranges::binary_search(public_classes(), name);
}

}  // namespace tbtrace::chrome
