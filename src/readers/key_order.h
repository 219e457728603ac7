// Finds the field of a key fast: a writer gives events of one kind the same keys in the same
// order, so what followed last time is compared first, from the key's quote to its value.
// Owns its openings; learns with every call, so one thread at a time.
// Knows only what it was told of; what it does not know is left to the caller to take apart.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "readers/chrome_fields.h"

namespace tbtrace::readers {

/// An opening is the text of a member up to its value, such as `"name": `.
class KeyOrder {
 public:
  KeyOrder() = default;
  KeyOrder(const KeyOrder&) = delete;
  KeyOrder& operator=(const KeyOrder&) = delete;

  /// So many bytes behind the start of an opening must be readable.
  static constexpr std::size_t kPadding = 32;

  class Opening {
   public:
    Field field() const { return field_; }
    std::uint64_t bit() const { return bit_; }

   private:
    friend class KeyOrder;

    bool is(const char* text, std::size_t size) const {
      if (size_ != size) return false;
      const std::uint64_t differs =
          ((word(text) ^ first_) | (word(text + last_at_) ^ last_)) & mask_;
      return differs == 0 && (size <= kTwoWords || word(text + 8) == middle_);
    }

    std::uint64_t first_ = 0;  // the first 8 bytes
    std::uint64_t last_ = 0;   // the last 8, which may overlap with others
    std::uint64_t mask_ = 0;   // of openings that have fewer
    std::uint64_t middle_ = 0;
    std::size_t size_ = 0;  // 0: free
    std::size_t last_at_ = 0;
    Opening* next_ = nullptr;  // what followed last time
    std::uint64_t bit_ = 0;
    Field field_ = Field::none;
  };

  /// What comes before the first opening of an object.
  Opening* start() { return &start_; }

  /// The opening if it is known, else nullptr. `before`: the one that was found before it.
  Opening* find(const char* text, std::size_t size, Opening* before) {
    Opening* const guess = before->next_;
    if (guess != nullptr && guess->is(text, size)) return guess;
    return look_up(text, size, before);
  }

  /// Makes an opening known that was not. One that is not worth it comes back as start().
  Opening* add(const char* text, std::size_t size, Field field) {
    if (size > kLongest || used_ == kMost) return &start_;
    std::size_t place = home(text, size);
    while (openings_[place].size_ != 0) place = (place + 1) % openings_.size();
    Opening& opening = openings_[place];
    opening.mask_ = mask(size);
    opening.size_ = size;
    opening.last_at_ = size - std::min<std::size_t>(size, 8);
    opening.first_ = word(text);
    opening.last_ = word(text + opening.last_at_);
    opening.middle_ = size > kTwoWords ? word(text + 8) : 0;
    opening.field_ = field;
    opening.bit_ = field_bit(field);
    ++used_;
    return &opening;
  }

 private:
  static constexpr std::size_t kMost = 64;
  static constexpr std::size_t kTwoWords = 16;
  static constexpr std::size_t kLongest = 24;  // three words

  static std::uint64_t word(const char* text) {
    std::uint64_t bytes;
    std::memcpy(&bytes, text, sizeof bytes);
    return bytes;
  }
  static std::uint64_t mask(std::size_t size) {
    return size < 8 ? (std::uint64_t{1} << (8 * size)) - 1 : ~std::uint64_t{0};
  }

  /// Where a search starts. The first bytes are a quote and most of the key.
  std::size_t home(const char* text, std::size_t size) const {
    const std::uint64_t first = word(text) & mask(size);
    return (((first ^ size) * 0x9e3779b97f4a7c15) >> 32) % openings_.size();
  }

  Opening* look_up(const char* text, std::size_t size, Opening* before) {
    std::size_t place = home(text, size);
    for (; openings_[place].size_ != 0; place = (place + 1) % openings_.size()) {
      if (openings_[place].is(text, size)) return before->next_ = &openings_[place];
    }
    return nullptr;
  }

  Opening start_;
  std::array<Opening, 2 * kMost> openings_;  // never more than half full
  std::size_t used_ = 0;
};

}  // namespace tbtrace::readers
