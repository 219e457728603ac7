// A flat hash map from 64-bit ids to row numbers, for tables of millions of ids.
// Owns its memory. One writer, or any number of readers. Any id is allowed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/column.h"
#include "base/hash.h"

namespace tbtrace {

/// Ids in traces are dense in one file and spread over 64 bits in the next, so they cannot be used
/// as indices. Open addressing, at most two thirds full: 18 bytes per expected id.
class IdMap {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  explicit IdMap(std::size_t expected = 0) {
    slots_.resize(std::max<std::size_t>(16, expected + expected / 2 + 1), Slot());
  }

  /// The row of `id`, kNone if it has none.
  std::uint32_t find(std::int64_t id) const { return slots_[place(id)].row; }

  /// Gives `id` a row if it has none yet. Returns its row, and whether it is new.
  std::pair<std::uint32_t, bool> insert(std::int64_t id, std::uint32_t row) {
    std::size_t at = place(id);
    if (slots_[at].row != kNone) return {slots_[at].row, false};
    if (size_ + size_ / 2 + 1 > slots_.size()) {
      grow();
      at = place(id);
    }
    slots_[at] = Slot(id, row);
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

  /// Has the memory for `id` brought near. To be called some ids before the id's turn, so that a
  /// series of look-ups in a large map need not wait for each.
  void prefetch(std::int64_t id) const { __builtin_prefetch(slots_.data() + first_place(id)); }

  std::size_t size() const { return size_; }

 private:
  /// 12 bytes; with a 64-bit number it would be 16.
  struct Slot {
    Slot() = default;
    Slot(std::int64_t id, std::uint32_t its_row)
        : low(static_cast<std::uint32_t>(id)),
          high(static_cast<std::uint32_t>(static_cast<std::uint64_t>(id) >> 32)),
          row(its_row) {}
    std::int64_t id() const { return static_cast<std::int64_t>(std::uint64_t{high} << 32 | low); }

    std::uint32_t low = 0;
    std::uint32_t high = 0;
    std::uint32_t row = kNone;
  };

  std::size_t first_place(std::int64_t id) const {
    // The upper half of a product of 64 bits: any number of slots will do, not just powers of two.
    __extension__ using Product = unsigned __int128;
    const Product hash = hash_integer(static_cast<std::uint64_t>(id), 0);
    return static_cast<std::size_t>(hash * slots_.size() >> 64);
  }

  std::size_t place(std::int64_t id) const {
    std::size_t at = first_place(id);
    while (slots_[at].row != kNone && slots_[at].id() != id)
      at = at + 1 < slots_.size() ? at + 1 : 0;
    return at;
  }

  void grow() {
    Column<Slot> old;
    old.swap(slots_);
    slots_.resize(old.size() * 2, Slot());
    for (const Slot& slot : old) {
      if (slot.row != kNone) slots_[place(slot.id())] = slot;
    }
  }

  Column<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace tbtrace
