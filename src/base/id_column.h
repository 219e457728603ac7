// A column of integers that are absent in most rows and usually small.
// Owns its memory. One writer, or any number of readers. Every 64-bit value is accepted.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/column.h"

namespace tbtrace {

/// Ids in traces are below 2^32 with rare exceptions (device ids, hashes, negative numbers). Four
/// bytes per row until the first exception, eight from then on; no memory before the first value
/// other than 0, which means "absent".
class IdColumn {
 public:
  /// Sets the value of `row`, which must not be before a row that is already set.
  void set(std::size_t row, std::int64_t value) {
    if (value == 0) return;
    if (wide_.empty() && value > 0 && value <= std::numeric_limits<std::uint32_t>::max()) {
      assert(row >= narrow_.size());
      narrow_.resize(row, 0);
      narrow_.push_back(static_cast<std::uint32_t>(value));
      return;
    }
    if (wide_.empty()) widen();
    assert(row >= wide_.size());
    wide_.resize(row, 0);
    wide_.push_back(value);
  }

  /// Sets the value of any row.
  void replace(std::size_t row, std::int64_t value) {
    if (row >= std::max(narrow_.size(), wide_.size())) {
      set(row, value);
    } else if (wide_.empty() && value >= 0 && value <= std::numeric_limits<std::uint32_t>::max()) {
      narrow_[row] = static_cast<std::uint32_t>(value);
    } else {
      if (wide_.empty()) widen();
      wide_[row] = value;
    }
  }

  void reserve(std::size_t rows) {
    if (!wide_.empty()) {
      wide_.reserve(rows);
    } else if (!narrow_.empty()) {
      narrow_.reserve(rows);
    }
  }

  /// The value of `row`, 0 if it has none.
  std::int64_t operator[](std::size_t row) const {
    if (row < narrow_.size()) return narrow_[row];
    return row < wide_.size() ? wide_[row] : 0;
  }

  /// No row has a value.
  bool empty() const { return narrow_.empty() && wide_.empty(); }

 private:
  void widen() {
    wide_.reserve(narrow_.size() + 1);
    for (const std::uint32_t value : narrow_) wide_.push_back(value);
    narrow_.release();
  }

  Column<std::uint32_t> narrow_;
  Column<std::int64_t> wide_;
};

}  // namespace tbtrace
