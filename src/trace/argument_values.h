// The values of one argument while a Trace is built; an ArgumentColumn is a view of it.
// Owns its memory; a view is valid until the next value is set. One writer, or any number of
// readers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include <tbtrace/arguments.h>

#include "base/column.h"

namespace tbtrace {

/// One bit per row, plus the values of the rows that have one, because most events lack most
/// arguments. A row costs a fifth of a byte; a value costs 4 bytes (integers that fit into 32 bits,
/// texts), 8 or 12.
class ArgumentValues {
 public:
  /// Rows come in ascending order; a row that is set again keeps its first value. All values of a
  /// column have the same type.
  void set(std::size_t row, std::int64_t value) {
    if (!mark(row)) return;
    if (wide_.empty()) {
      if (std::in_range<std::int32_t>(value)) {
        narrow_.push_back(static_cast<std::int32_t>(value));
        return;
      }
      widen();
    }
    wide_.push_back(value);
  }
  void set(std::size_t row, double value) {
    if (mark(row)) real_.push_back(value);
  }
  void set(std::size_t row, StringId value) {
    if (mark(row)) text_.push_back(value);
  }
  void set(std::size_t row, Dim3 value) {
    if (mark(row)) dim3_.push_back(value);
  }

  /// Sets the value that another column has in `from_row`.
  void copy(std::size_t row, const ArgumentColumn& from, std::size_t from_row);

  /// Reserves room for `times` as many rows and values as now.
  void expect(double times, std::size_t most_rows);

  bool empty() const { return size_ == 0; }
  ArgumentColumn view() const;

 private:
  /// Marks the row as having a value; false if it already has one.
  bool mark(std::size_t row) {
    const std::size_t word = row / 64;
    while (present_.size() <= word) {
      present_.push_back(0);
      before_.push_back(static_cast<std::uint32_t>(size_));
    }
    const std::uint64_t bit = std::uint64_t{1} << (row % 64);
    if ((present_[word] & bit) != 0) return false;
    present_[word] |= bit;
    ++size_;
    return true;
  }
  void widen();

  std::size_t size_ = 0;
  Column<std::uint64_t> present_;
  Column<std::uint32_t> before_;
  Column<std::int32_t> narrow_;
  Column<std::int64_t> wide_;
  Column<double> real_;
  Column<StringId> text_;
  Column<Dim3> dim3_;
};

}  // namespace tbtrace
