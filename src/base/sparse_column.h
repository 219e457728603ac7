// Values for some of the rows of a table.
// Owns its memory. One writer, or any number of readers.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/column.h"

namespace tbtrace {

/// A fifth of a byte per row plus the values. Rows are marked first, in any order; settle() makes
/// their values, which are T() until they are set.
template <typename T>
class SparseColumn {
 public:
  SparseColumn() = default;
  explicit SparseColumn(std::size_t rows) { present_.resize(rows / 64 + 1, 0); }

  void mark(std::size_t row) { present_[row / 64] |= bit(row); }
  bool is_marked(std::size_t row) const {
    return row / 64 < present_.size() && (present_[row / 64] & bit(row)) != 0;
  }

  void settle() {
    before_.reserve(present_.size());
    std::uint32_t count = 0;
    for (const std::uint64_t word : present_) {
      before_.push_back(count);
      count += static_cast<std::uint32_t>(std::popcount(word));
    }
    values_.resize(count, T());
  }

  /// The value of a marked row.
  T& operator[](std::size_t row) { return values_[place(row)]; }
  /// T() if the row is not marked.
  T value(std::size_t row) const { return is_marked(row) ? values_[place(row)] : T(); }

 private:
  static std::uint64_t bit(std::size_t row) { return std::uint64_t{1} << row % 64; }
  std::size_t place(std::size_t row) const {
    const std::uint64_t earlier = present_[row / 64] & (bit(row) - 1);
    return before_[row / 64] + static_cast<std::size_t>(std::popcount(earlier));
  }

  Column<std::uint64_t> present_;
  Column<std::uint32_t> before_;  // marked rows before each 64th
  Column<T> values_;
};

}  // namespace tbtrace
