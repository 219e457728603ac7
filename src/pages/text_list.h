// Different texts, each once, cut for people. Refers to the texts, which must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/utf8.h"

namespace tbtrace::pages {

class TextList {
 public:
  /// The number of a text, in the order of first use.
  std::size_t number_of(std::string_view text) {
    const auto [place, is_new] = numbers_.try_emplace(text, texts_.size());
    if (is_new) texts_.push_back(text);
    return place->second;
  }
  const std::vector<std::string_view>& texts() const { return texts_; }

 private:
  std::unordered_map<std::string_view, std::size_t> numbers_;
  std::vector<std::string_view> texts_;
};

/// At most so many characters; what is longer ends in `…`.
inline std::string cut_text(std::string_view text, std::size_t characters, std::size_t& cuts) {
  if (text.size() <= characters) return to_utf8(text);
  std::string valid = to_utf8(text);
  if (utf8_prefix(valid, characters).size() == valid.size()) return valid;
  ++cuts;
  return std::string(utf8_prefix(valid, characters - 1)) + "\u2026";
}

}  // namespace tbtrace::pages
