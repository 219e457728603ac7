// Text that may be given to the index: the bytes after it are readable.
// Owns its memory, which only grows. One thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

#include "base/column.h"
#include "wire/json_index.h"

namespace tbtrace::readers {

class TextBuffer {
 public:
  std::string_view view() const { return {bytes_.data(), size_}; }
  std::size_t size() const { return size_; }

  /// Room for `count` more bytes; say how many were written with added().
  std::span<char> room(std::size_t count) {
    bytes_.reserve(size_ + count + wire::kJsonPadding);
    return {bytes_.data() + size_, count};
  }
  void added(std::size_t count) {
    size_ += count;
    std::memset(bytes_.data() + size_, 0, wire::kJsonPadding);
  }
  void append(std::string_view text) {
    if (size_ + text.size() + wire::kJsonPadding > reserved_) {
      // Twice the room, so that text that comes in small pieces is not moved with each.
      reserved_ = 2 * (size_ + text.size()) + wire::kJsonPadding;
      bytes_.reserve(reserved_);
    }
    const std::span<char> place = room(text.size());
    std::copy(text.begin(), text.end(), place.begin());
    added(text.size());
  }
  void drop_front(std::size_t count) {
    std::copy(bytes_.data() + count, bytes_.data() + size_, bytes_.data());
    size_ -= count;
    added(0);
  }
  void truncate(std::size_t size) {
    size_ = std::min(size, size_);
    added(0);
  }
  void clear() { size_ = 0; }

 private:
  Column<char> bytes_;
  std::size_t size_ = 0;
  std::size_t reserved_ = 0;
};

}  // namespace tbtrace::readers
