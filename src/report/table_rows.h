// The rows of a table, created one at a time, so that they need not all be in memory.
// What next() returns is valid until the next call. One thread at a time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <tbtrace/report.h>

namespace tbtrace::report {

class TableRows {
 public:
  virtual ~TableRows() = default;

  virtual const std::vector<std::string>& columns() const = 0;

  /// The next row, one cell per column; nullptr after the last.
  virtual const std::vector<Cell>* next() = 0;

  /// Restarts with the first row.
  virtual void rewind() = 0;
};

/// The rows of a table that is in memory already, which must outlive this.
class StoredTable final : public TableRows {
 public:
  explicit StoredTable(const Table& table) : table_(table) {}

  const std::vector<std::string>& columns() const override { return table_.columns; }
  const std::vector<Cell>* next() override {
    return next_ < table_.rows.size() ? &table_.rows[next_++] : nullptr;
  }
  void rewind() override { next_ = 0; }

 private:
  const Table& table_;
  std::size_t next_ = 0;
};

}  // namespace tbtrace::report
