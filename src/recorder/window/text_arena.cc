#include "recorder/window/text_arena.h"

#include <array>
#include <charconv>
#include <cstring>

namespace tbtrace::recorder {

char* TextArena::room(std::size_t size) {
  if (size > kBlock) {
    return long_ones_.emplace_back(std::make_unique_for_overwrite<char[]>(size)).get();
  }
  if (blocks_.empty() || used_ + size > kBlock) {
    if (!blocks_.empty()) ++block_;
    used_ = 0;
    if (block_ == blocks_.size()) {
      blocks_.push_back(std::make_unique_for_overwrite<char[]>(kBlock));
    }
  }
  char* const at = blocks_[block_].get() + used_;
  used_ += size;
  return at;
}

std::string_view TextArena::put(std::string_view text) {
  char* const at = room(text.size());
  std::memcpy(at, text.data(), text.size());
  return {at, text.size()};
}

std::string_view TextArena::put(std::int64_t number) {
  std::array<char, 24> digits;
  const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  return put(std::string_view(digits.data(), end));
}

std::string_view TextArena::put(std::uint64_t number) {
  std::array<char, 24> digits;
  const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  return put(std::string_view(digits.data(), end));
}

std::string_view TextArena::put_microseconds(std::int64_t ns) {
  std::array<char, 28> digits;
  char* end = std::to_chars(digits.data(), digits.data() + digits.size(), ns / 1000).ptr;
  const std::int64_t rest = ns % 1000;
  *end++ = '.';
  *end++ = static_cast<char>('0' + rest / 100);
  *end++ = static_cast<char>('0' + rest / 10 % 10);
  *end++ = static_cast<char>('0' + rest % 10);
  return put(std::string_view(digits.data(), end));
}

void TextArena::clear() {
  long_ones_.clear();
  block_ = 0;
  used_ = 0;
}

}  // namespace tbtrace::recorder
