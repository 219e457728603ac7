// Whether an id came before, for millions of ids of which most tables have a dense range.
// Owns its memory. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/column.h"
#include "base/id_map.h"

namespace tbtrace {

/// One bit for each id of the range if that takes at most 8 bytes per id; else a hash table.
class IdSet {
 public:
  /// All ids are from `least` to `most`; there are about `expected` of them.
  IdSet(std::int64_t least, std::int64_t most, std::size_t expected) : least_(least) {
    constexpr std::uint64_t kBitsPerId = 64;
    const std::uint64_t range = offset(most);
    if (least > most || range / kBitsPerId > expected) return;
    bits_.resize(static_cast<std::size_t>(range / kWord + 1), 0);
  }

  /// Whether it is new.
  bool insert(std::int64_t id) {
    if (bits_.empty()) return ids_.insert(id, 0).second;
    std::uint64_t& word = bits_[static_cast<std::size_t>(offset(id) / kWord)];
    const std::uint64_t bit = std::uint64_t{1} << offset(id) % kWord;
    const bool is_new = (word & bit) == 0;
    word |= bit;
    return is_new;
  }

 private:
  static constexpr std::uint64_t kWord = 64;

  std::uint64_t offset(std::int64_t id) const {
    return static_cast<std::uint64_t>(id) - static_cast<std::uint64_t>(least_);
  }

  std::int64_t least_;
  Column<std::uint64_t> bits_;  // by id, from the least one on
  IdMap ids_;                   // if the range is too wide
};

}  // namespace tbtrace
