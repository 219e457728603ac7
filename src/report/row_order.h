// Which rows of a summary are shown, and in which order.
// A RowOrder owns its numbers; ShownRows refers to its arguments, which must outlive it.
// A sort key that does not exist is a failure that lists the existing ones.
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

/// The key with `cuda`, `xpu` or `privateuse1` replaced by `device`, as torch names it.
std::string canonical_key(std::string_view key);

/// An order of all rows of a source. The source's own order takes no memory.
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

/// Fails if the key does not exist.
Status check_sort_key(std::string_view sort_by);

/// Rows sorted by `sort_by`, largest first, equal rows in the source's order; the source's order if
/// `sort_by` is empty. Reads each row once.
Result<RowOrder> sorted_rows(RowSource& rows, std::string_view sort_by);

/// Selects rows by kind and name.
class RowSelection {
 public:
  RowSelection(RowSource& rows, const TableOptions& options) : rows_(rows), options_(options) {}

  bool takes(std::size_t number);

  /// Looks at all rows, unless all are selected.
  RowCounts count();

 private:
  bool takes_name(std::string_view name);

  RowSource& rows_;
  const TableOptions& options_;
  // Rows of an event list share the texts of their names. The last results, by where a text is.
  struct Known {
    std::string_view name;
    bool accepted;
  };
  std::vector<std::optional<Known>> known_;
};

/// The rows that a table with `options` shows, one after the other: those selected, at most
/// `row_limit`.
class ShownRows {
 public:
  ShownRows(RowSource& rows, const RowOrder& order, const TableOptions& options)
      : order_(order), options_(options), selection_(rows, options) {}

  /// The number of the next row; nullopt after the last.
  std::optional<std::size_t> next();

  /// Restarts with the first row.
  void rewind() { place_ = shown_ = 0; }

 private:
  const RowOrder& order_;
  const TableOptions& options_;
  RowSelection selection_;
  std::size_t place_ = 0;
  std::size_t shown_ = 0;
};

/// One of the row's totals divided by its calls, as in Python; 0 without calls.
double mean_us(const Duration& total, const OperatorRow& row);

/// Whether a row's own device time is part of the sum in the footer: device rows are, except device
/// rows of annotations, which cover the same time again. `facts`: of the table.
bool counts_as_device_time(const OperatorRows& facts, const OperatorRow& row);

}  // namespace tbtrace::report
