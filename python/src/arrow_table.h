// A table as Arrow lays it out, and as a stream that Arrow libraries take over without a copy.
// Immutable once made. Buffers keep alive what they point into; consumers may release what they
// take on any thread, and later than the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "arrow_abi.h"

namespace tbtrace::python {

struct ArrowBuffer {
  std::shared_ptr<const void> owner;
  const void* data = nullptr;
};

/// A buffer of its own.
template <typename T>
ArrowBuffer owned_buffer(std::vector<T> values) {
  auto owner = std::make_shared<const std::vector<T>>(std::move(values));
  const void* const data = owner->data();
  return {std::move(owner), data};
}

struct ArrowColumn {
  std::string name;
  std::string format = {};  ///< Arrow's, such as `l` for 64-bit integers
  std::int64_t rows = 0;
  std::int64_t nulls = 0;   ///< -1: not counted
  std::int64_t offset = 0;  ///< rows of the buffers before the first one
  /// In Arrow's order for the format; the first one, a bit per row, has no data if `nulls` is 0.
  std::vector<ArrowBuffer> buffers = {};
  std::vector<ArrowColumn> children = {};
  /// The values that the column has numbers of.
  std::shared_ptr<const ArrowColumn> dictionary = nullptr;
};

struct ArrowTable {
  std::string schema;  ///< such as `tbtrace.kernels/1`; consumers find it in the metadata
  std::int64_t rows = 0;
  std::vector<ArrowColumn> columns = {};
};

/// Texts, each once, for columns that repeat them.
class TextDictionary {
 public:
  /// The text's number. What is not UTF-8 is replaced by U+FFFD.
  std::int32_t number(std::string_view text);
  std::shared_ptr<const ArrowColumn> finish() &&;

 private:
  std::unordered_map<std::string, std::int32_t> numbers_;
  std::vector<std::int64_t> ends_ = {0};
  std::string bytes_;
};

/// Bits for rows that have a value.
class Validity {
 public:
  void add(bool has_value) {
    if (rows_ % 8 == 0) bits_.push_back(0);
    if (has_value) bits_.back() |= static_cast<std::uint8_t>(1U << (rows_ % 8));
    nulls_ += has_value ? 0 : 1;
    ++rows_;
  }
  std::int64_t nulls() const { return nulls_; }
  ArrowBuffer finish() && { return nulls_ > 0 ? owned_buffer(std::move(bits_)) : ArrowBuffer(); }

 private:
  std::vector<std::uint8_t> bits_;
  std::int64_t rows_ = 0;
  std::int64_t nulls_ = 0;
};

/// Makes `out` a stream of one batch: the whole table.
void export_stream(std::shared_ptr<const ArrowTable> table, ArrowArrayStream& out);
/// One column of the table.
void export_array(const std::shared_ptr<const ArrowTable>& table, std::size_t column,
                  ArrowSchema& schema, ArrowArray& array);
/// The table's schema, a struct of its columns.
void export_schema(std::shared_ptr<const ArrowTable> table, ArrowSchema& out);

}  // namespace tbtrace::python
