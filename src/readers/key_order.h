// Finds the field of a key fast: a writer gives events of one kind the same keys in the same
// order, so what followed last time is compared first, from the key's quote to its value.
// Owns its rows; learns with every call, so one thread at a time.
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
  /// A known opening, to be handed in with the one that follows it.
  using Place = std::uint8_t;
  static constexpr Place kNone = 0;  ///< also what comes before the first one

  /// So many bytes behind the start of an opening must be readable.
  static constexpr std::size_t kPadding = 32;

  Field field(Place place) const { return slots_[place].field; }

  /// The place of the opening; kNone if it is not known.
  Place find(const char* opening, std::size_t size, Place before) {
    const Place guess = slots_[before].next;
    if (slots_[guess].holds(opening, size)) return guess;
    const Place found = look_up(opening, size);
    if (found != kNone) slots_[before].next = found;
    return found;
  }

  /// Makes an opening known that was not. Some are not worth it; they stay unknown.
  Place add(const char* opening, std::size_t size, Field field) {
    if (size > kLongest || used_ > kSlots / 2) return kNone;
    Place place = home(opening, size);
    while (is_taken(place)) place = next_to(place);
    Slot& slot = slots_[place];
    slot.mask = size < 8 ? (std::uint64_t{1} << (8 * size)) - 1 : ~std::uint64_t{0};
    slot.size = static_cast<std::uint32_t>(size);
    slot.last_at = static_cast<std::uint8_t>(size - std::min<std::size_t>(size, 8));
    slot.middle_at = std::min<std::uint8_t>(slot.last_at, 8);
    slot.first = word(opening) & slot.mask;
    slot.middle = word(opening + slot.middle_at) & slot.mask;
    slot.last = word(opening + slot.last_at) & slot.mask;
    slot.field = field;
    ++used_;
    return place;
  }

 private:
  static constexpr std::size_t kSlots = 128;
  static constexpr std::size_t kLongest = 24;  // three words

  struct Slot {
    std::uint64_t first = 0;  // words of 8 bytes, which may overlap
    std::uint64_t middle = 0;
    std::uint64_t last = 0;
    std::uint64_t mask = 0;  // of shorter ones
    std::uint32_t size = 0;  // 0: free
    std::uint8_t middle_at = 0;
    std::uint8_t last_at = 0;
    Field field = Field::none;
    Place next = kNone;

    bool holds(const char* opening, std::size_t its_size) const {
      return size == its_size && (((word(opening) & mask) ^ first) |
                                  ((word(opening + middle_at) & mask) ^ middle) |
                                  ((word(opening + last_at) & mask) ^ last)) == 0;
    }
  };

  static std::uint64_t word(const char* text) {
    std::uint64_t bytes;
    std::memcpy(&bytes, text, sizeof bytes);
    return bytes;
  }

  /// Where a search starts. The first bytes are a quote and most of the key.
  static Place home(const char* opening, std::size_t size) {
    std::uint64_t first = word(opening);
    if (size < 8) first &= (std::uint64_t{1} << (8 * size)) - 1;
    return static_cast<Place>(((first ^ size) * 0x9e3779b97f4a7c15) >> 57);
  }
  static Place next_to(Place place) { return static_cast<Place>((place + 1) % kSlots); }
  bool is_taken(Place place) const { return place == kNone || slots_[place].size != 0; }

  Place look_up(const char* opening, std::size_t size) const {
    for (Place place = home(opening, size); is_taken(place); place = next_to(place)) {
      if (slots_[place].holds(opening, size)) return place;
    }
    return kNone;
  }

  std::array<Slot, kSlots> slots_;
  std::size_t used_ = 0;
};

}  // namespace tbtrace::readers
