// Text in a block of its own, with the bytes behind it that the fast paths may read and not one
// more, so that the address sanitizer sees who reads further.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>

namespace tbtrace::fuzz {

class PaddedText {
 public:
  PaddedText(std::string_view text, std::size_t padding)
      : size_(text.size()), bytes_(std::make_unique<char[]>(text.size() + padding)) {
    std::copy(text.begin(), text.end(), bytes_.get());
    std::fill_n(bytes_.get() + size_, padding, '"');
  }
  std::string_view view() const { return {bytes_.get(), size_}; }

 private:
  std::size_t size_;
  std::unique_ptr<char[]> bytes_;
};

}  // namespace tbtrace::fuzz
