// The rows of a summary or of an event list, created one at a time, so that they need not all be in
// memory.
// A source may reuse one row's memory for the next: what it returns is valid until its next call.
// One thread at a time.
#pragma once

#include <cstddef>
#include <string_view>

#include <tbtrace/report.h>

namespace tbtrace::report {

class RowSource {
 public:
  virtual ~RowSource() = default;

  /// What a table needs to know besides its rows; its `rows` may be empty.
  virtual const OperatorRows& facts() const = 0;

  virtual std::size_t size() const = 0;

  /// A row including its texts.
  virtual const OperatorRow& row(std::size_t number) = 0;

  /// The same without texts, where they are expensive.
  virtual const OperatorRow& numbers(std::size_t number) { return row(number); }

  virtual OperatorKind kind(std::size_t number) { return numbers(number).kind; }

  /// The key of a row; valid as long as the source.
  virtual std::string_view key(std::size_t number) = 0;
};

/// Rows that are in memory already, which must outlive the source.
class StoredRows final : public RowSource {
 public:
  explicit StoredRows(const OperatorRows& rows) : rows_(rows) {}

  const OperatorRows& facts() const override { return rows_; }
  std::size_t size() const override { return rows_.rows.size(); }
  const OperatorRow& row(std::size_t number) override { return rows_.rows[number]; }
  std::string_view key(std::size_t number) override { return rows_.rows[number].key; }

 private:
  const OperatorRows& rows_;
};

}  // namespace tbtrace::report
