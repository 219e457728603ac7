// Which rows of a summary are shown, and in which order.
// A RowOrder owns its numbers; ShownRows uses what it is given, which must outlive it.
// A sort key that does not exist is a failure that lists those that do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tbtrace/report.h>
#include <tbtrace/status.h>

#include "report/row_source.h"

namespace tbtrace::report {

/// torch's spelling of a key: `cuda`, `xpu` and `privateuse1` in it are `device`.
std::string canonical_key(std::string_view key);

/// All rows of a source in an order. The source's own order takes no memory.
class RowOrder {
 public:
  /// The source's own order.
  explicit RowOrder(std::size_t size) : size_(size) {}
  explicit RowOrder(std::vector<std::size_t> numbers)
      : numbers_(std::move(numbers)), size_(numbers_.size()) {}

  std::size_t size() const { return size_; }
  std::size_t operator[](std::size_t place) const {
    return numbers_.empty() ? place : numbers_[place];
  }

 private:
  std::vector<std::size_t> numbers_;
  std::size_t size_;
};

/// Fails if there is no such key.
Status check_sort_key(std::string_view sort_by);

/// The order of `sort_by`, largest first and equal rows as they were; the source's own if it is
/// empty. It reads each row once.
Result<RowOrder> sorted_rows(RowSource& rows, std::string_view sort_by);

/// The rows that a table of `options` shows, one after the other: no more than its limit, and
/// without rows that have a parent where only the outermost are wanted.
class ShownRows {
 public:
  ShownRows(RowSource& rows, const RowOrder& order, const TableOptions& options)
      : rows_(rows), order_(order), options_(options) {}

  /// The number of the next row; nothing after the last.
  std::optional<std::size_t> next();

  /// Starts again with the first row.
  void rewind() { place_ = shown_ = 0; }

 private:
  RowSource& rows_;
  const RowOrder& order_;
  const TableOptions& options_;
  std::size_t place_ = 0;
  std::size_t shown_ = 0;
};

/// A call's share of one of the row's totals, as Python divides; 0 without calls.
double mean_us(const Duration& total, const OperatorRow& row);

/// Whether a row's own device time is part of the sum at the foot: rows of devices are, but not the
/// shadows of annotations, which cover the same time again. `facts`: of the table.
bool counts_as_device_time(const OperatorRows& facts, const OperatorRow& row);

}  // namespace tbtrace::report
