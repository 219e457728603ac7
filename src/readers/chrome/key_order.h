// Finds what a key means fast: a writer gives events of one kind the same keys in the same order,
// so what followed last time is compared first, from the key's quote to its value.
// Owns its openings; learns with every call, so one thread at a time.
// Knows only what it was told; what it does not know is left to the caller to take apart.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

namespace tbtrace::readers {

/// An opening is the text of a member up to its value, such as `"name": `. `Meaning` is what the
/// caller makes of it.
template <typename Meaning>
class KeyOrder {
  static constexpr std::size_t kTwoWords = 16;
  static constexpr std::size_t kThreeWords = 24;

 public:
  KeyOrder() : openings_(std::make_unique<Openings>()) {}

  /// So many bytes after the start of an opening must be readable.
  static constexpr std::size_t kPadding = 48;

  class Opening {
   public:
    const Meaning& meaning() const { return meaning_; }

   private:
    friend class KeyOrder;

    bool is(const char* text, std::size_t size) const {
      if (size_ != size) return false;
      const std::uint64_t differs =
          ((word(text) ^ first_) | (word(text + last_at_) ^ last_)) & mask_;
      return differs == 0 && (size <= kTwoWords || has_middle(text, size));
    }
    bool has_middle(const char* text, std::size_t size) const {
      return word(text + 8) == word(middle_.data()) &&
             (size <= kThreeWords ||
              std::memcmp(text + kTwoWords, middle_.data() + 8, size - kThreeWords) == 0);
    }

    std::size_t size_ = 0;     // 0: free
    std::uint64_t first_ = 0;  // the first 8 bytes
    std::uint64_t last_ = 0;   // the last 8, which may overlap with others
    std::uint64_t mask_ = 0;   // of openings that have fewer
    std::size_t last_at_ = 0;
    Opening* next_ = nullptr;          // what followed last time
    Opening* next_but_one_ = nullptr;  // the last other one that did
    Meaning meaning_;
    std::array<char, kPadding - kTwoWords> middle_ = {};  // from the 9th byte on
  };

  /// What comes before the first opening of an object.
  Opening* start() { return &openings_->start; }

  /// The opening if it is known, else nullptr. `before`: the one that was found before it.
  Opening* find(const char* text, std::size_t size, Opening* before) {
    // Events of two kinds often take turns.
    Opening* const guess = before->next_;
    if (guess != nullptr && guess->is(text, size)) return guess;
    Opening* const other = before->next_but_one_;
    if (other != nullptr && other->is(text, size)) {
      before->next_ = other;
      before->next_but_one_ = guess;
      return other;
    }
    return look_up(text, size, before);
  }

  /// An opening that is not kept, for who asks for its meaning at once.
  Opening* once(const Meaning& meaning) {
    openings_->unkept.meaning_ = meaning;
    return &openings_->unkept;
  }

  /// Makes an opening known that was not. One that is too long, or one too many, is only known
  /// until the next such one.
  Opening* add(const char* text, std::size_t size, const Meaning& meaning) {
    if (size > kPadding || used_ == kMost) return once(meaning);
    std::size_t place = home(text, size);
    while (openings_->table[place].size_ != 0) place = (place + 1) % kSlots;
    Opening& opening = openings_->table[place];
    opening.size_ = size;
    opening.mask_ = mask(size);
    opening.last_at_ = size - std::min<std::size_t>(size, 8);
    opening.first_ = word(text);
    opening.last_ = word(text + opening.last_at_);
    if (size > kTwoWords) {
      std::memcpy(opening.middle_.data(), text + 8, std::max<std::size_t>(8, size - kTwoWords));
    }
    opening.meaning_ = meaning;
    ++used_;
    return &opening;
  }

 private:
  static constexpr std::size_t kMost = 96;
  static constexpr std::size_t kSlots = 256;  // never half full

  struct Openings {
    Opening start;
    Opening unkept;
    std::array<Opening, kSlots> table;
  };

  static std::uint64_t word(const char* text) {
    std::uint64_t bytes;
    std::memcpy(&bytes, text, sizeof bytes);
    return bytes;
  }
  static std::uint64_t mask(std::size_t size) {
    return size < 8 ? (std::uint64_t{1} << (8 * size)) - 1 : ~std::uint64_t{0};
  }

  /// Where a search starts. The first bytes are a quote and most of the key.
  static std::size_t home(const char* text, std::size_t size) {
    const std::uint64_t first = word(text) & mask(size);
    return (((first ^ size) * 0x9e3779b97f4a7c15) >> 32) % kSlots;
  }

  [[gnu::noinline]] Opening* look_up(const char* text, std::size_t size, Opening* before) {
    if (size > kPadding) return nullptr;
    std::size_t place = home(text, size);
    for (; openings_->table[place].size_ != 0; place = (place + 1) % kSlots) {
      Opening& opening = openings_->table[place];
      if (!opening.is(text, size)) continue;
      before->next_but_one_ = before->next_;
      return before->next_ = &opening;
    }
    return nullptr;
  }

  std::unique_ptr<Openings> openings_;
  std::size_t used_ = 0;
};

}  // namespace tbtrace::readers
