// A flat hash map from 64-bit ids to row numbers, for tables of millions of ids.
// Owns its memory. One writer, or any number of readers. Any id is allowed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/column.h"
#include "base/hash.h"

namespace tbtrace {

/// Ids in traces are dense in one file and spread over 64 bits in the next, so they cannot be used
/// as indices. Open addressing, at most half full.
class IdMap {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  explicit IdMap(std::size_t expected = 0) {
    std::size_t size = 16;
    while (size < expected * 2) size *= 2;
    slots_.resize(size, {0, kNone});
  }

  /// The row of `id`, kNone if it has none.
  std::uint32_t find(std::int64_t id) const { return slots_[place(id)].row; }

  /// Gives `id` a row if it has none yet. Returns its row, and whether it is new.
  std::pair<std::uint32_t, bool> insert(std::int64_t id, std::uint32_t row) {
    std::size_t at = place(id);
    if (slots_[at].row != kNone) return {slots_[at].row, false};
    if ((size_ + 1) * 2 > slots_.size()) {
      grow();
      at = place(id);
    }
    slots_[at] = {id, row};
    ++size_;
    return {row, true};
  }

  /// Gives `id` a row and returns the one that it had before, kNone if it had none.
  std::uint32_t replace(std::int64_t id, std::uint32_t row) {
    const auto [before, added] = insert(id, row);
    if (added) return kNone;
    slots_[place(id)].row = row;
    return before;
  }

  std::size_t size() const { return size_; }

 private:
  struct Slot {
    std::int64_t id;
    std::uint32_t row;
  };

  std::size_t place(std::int64_t id) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash_integer(static_cast<std::uint64_t>(id), 0) & mask;
    while (slots_[at].row != kNone && slots_[at].id != id) at = (at + 1) & mask;
    return at;
  }

  void grow() {
    Column<Slot> old;
    old.swap(slots_);
    slots_.resize(old.size() * 2, {0, kNone});
    for (const Slot& slot : old) {
      if (slot.row != kNone) slots_[place(slot.id)] = slot;
    }
  }

  Column<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace tbtrace
