// On which line of its track a range is drawn. Owns its memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tbtrace::analyses {

/// Takes the ranges of one track by start, the longer first. No two ranges of a line overlap; a
/// range that lies inside another one, or crosses one that started before, is below the ones that
/// it lies inside of, on the highest line that is free. Ranges without a length are inside those
/// that start with them.
class TimelineRows {
 public:
  std::uint32_t place(std::int64_t start_ns, std::int64_t duration_ns) {
    while (!open_.empty() && !open_.back().is_open(start_ns, duration_ns)) open_.pop_back();
    const std::int64_t end_ns = start_ns + duration_ns;
    std::size_t row = open_.size();
    // Most ranges lie inside the lowest one that is open. With a great many lines all go below.
    if (row > 0 && open_.back().end_ns < end_ns && row <= kMostSearched) {
      row = row_of_crossing(start_ns, duration_ns);
    }
    if (row == open_.size()) open_.emplace_back();
    open_[row] = {start_ns, end_ns};
    rows_ = std::max(rows_, row + 1);
    return static_cast<std::uint32_t>(row);
  }

  /// How many lines there are.
  std::uint32_t rows() const { return static_cast<std::uint32_t>(rows_); }

 private:
  static constexpr std::size_t kMostSearched = 1000;

  struct Open {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;

    bool is_open(std::int64_t at_ns, std::int64_t duration_ns) const {
      if (end_ns > at_ns) return true;
      return duration_ns == 0 && start_ns == at_ns && end_ns == at_ns;
    }
  };

  std::size_t row_of_crossing(std::int64_t start_ns, std::int64_t duration_ns) const {
    std::size_t row = open_.size();
    for (std::size_t above = open_.size(); above-- > 0;) {
      const Open& open = open_[above];
      if (!open.is_open(start_ns, duration_ns)) {
        row = above;
      } else if (open.end_ns >= start_ns + duration_ns) {
        break;  // it lies inside
      }
    }
    return row;
  }

  std::vector<Open> open_;  // by line: its last range
  std::size_t rows_ = 0;
};

}  // namespace tbtrace::analyses
