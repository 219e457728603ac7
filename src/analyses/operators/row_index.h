// Finds a row's entries in a list that is sorted by row.
// Owns one number per 64 rows; the list must outlive it. Immutable once made.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tbtrace::analyses {

/// `Entry` has a member `row`. Lookup time does not depend on the row or on the order of lookups.
template <typename Entry>
class RowIndex {
 public:
  RowIndex(std::span<const Entry> entries, std::size_t rows) : entries_(entries) {
    starts_.reserve(rows / kRows + 2);
    std::size_t entry = 0;
    for (std::size_t row = 0; row < rows + kRows; row += kRows) {
      while (entry < entries.size() && entries[entry].row < row) ++entry;
      starts_.push_back(entry);
    }
    starts_.push_back(entries.size());
  }

  std::span<const Entry> of(std::size_t row) const {
    const std::size_t start = starts_[row / kRows];
    const auto block = entries_.subspan(start, starts_[row / kRows + 1] - start);
    const auto [first, last] = std::equal_range(block.begin(), block.end(), row, Before());
    return {first, last};
  }

 private:
  static constexpr std::size_t kRows = 64;

  struct Before {
    bool operator()(const Entry& entry, std::size_t row) const { return entry.row < row; }
    bool operator()(std::size_t row, const Entry& entry) const { return row < entry.row; }
  };

  std::span<const Entry> entries_;
  std::vector<std::size_t> starts_;  // by row / kRows: the first entry of that row or a later one
};

}  // namespace tbtrace::analyses
