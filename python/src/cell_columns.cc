#include "cell_columns.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <variant>

#include "base/utf8.h"

namespace tbtrace::python {
namespace {

std::optional<std::int64_t> whole_in(const Cell& cell) {
  if (const auto* value = std::get_if<std::int64_t>(&cell)) return *value;
  if (const auto* value = std::get_if<std::uint64_t>(&cell)) {
    constexpr auto kMost = std::uint64_t{std::numeric_limits<std::int64_t>::max()};
    return static_cast<std::int64_t>(std::min(*value, kMost));
  }
  return std::nullopt;
}

std::optional<double> real_in(const Cell& cell) {
  if (const auto* value = std::get_if<double>(&cell)) return *value;
  if (const auto* value = std::get_if<std::uint64_t>(&cell)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*value);
  return std::nullopt;
}

class ColumnOfCells {
 public:
  ColumnOfCells(ValueType type, const Table& table, std::size_t column)
      : table_(table), column_(column) {
    out_.name = table.columns[column];
    out_.rows = static_cast<std::int64_t>(table.rows.size());
    add(type);
  }

  ArrowColumn finish() && { return std::move(out_); }

 private:
  void add(ValueType type) {
    switch (type) {
      case ValueType::boolean:
        return add_booleans();
      case ValueType::integer:
        return add_numbers<std::int64_t>("l", whole_in);
      case ValueType::number:
        return add_numbers<double>("g", real_in);
      case ValueType::text:
        return add_texts();
      case ValueType::texts:
        return add_lists();
      case ValueType::list:
      case ValueType::any:
        return add_json();
    }
  }

  /// Whether the cell has a value, which must be of the type.
  bool has_value(const Cell& cell, bool is_of_type) const {
    const bool is_empty = std::holds_alternative<std::monostate>(cell);
    if (!is_empty && !is_of_type) {
      throw std::invalid_argument("the column " + out_.name + " has values of another type");
    }
    return !is_empty;
  }

  template <typename Number>
  void add_numbers(const char* format, std::optional<Number> (*value_in)(const Cell& cell)) {
    std::vector<Number> values;
    values.reserve(table_.rows.size());
    Validity valid;
    for (const std::vector<Cell>& row : table_.rows) {
      const std::optional<Number> value = value_in(row[column_]);
      valid.add(has_value(row[column_], value.has_value()));
      values.push_back(value.value_or(Number{}));
    }
    finish_column(format, std::move(valid), {owned_buffer(std::move(values))});
  }

  void add_booleans() {
    std::vector<std::uint8_t> bits((table_.rows.size() + 7) / 8);
    Validity valid;
    for (std::size_t row = 0; row < table_.rows.size(); ++row) {
      const bool* const value = std::get_if<bool>(&table_.rows[row][column_]);
      valid.add(has_value(table_.rows[row][column_], value != nullptr));
      if (value != nullptr && *value) bits[row / 8] |= static_cast<std::uint8_t>(1U << (row % 8));
    }
    finish_column("b", std::move(valid), {owned_buffer(std::move(bits))});
  }

  void add_texts() {
    TextDictionary texts;
    std::vector<std::int32_t> numbers;
    numbers.reserve(table_.rows.size());
    Validity valid;
    for (const std::vector<Cell>& row : table_.rows) {
      const auto* const text = std::get_if<std::string>(&row[column_]);
      valid.add(has_value(row[column_], text != nullptr));
      numbers.push_back(text != nullptr ? texts.number(*text) : 0);
    }
    out_.dictionary = std::move(texts).finish();
    finish_column("i", std::move(valid), {owned_buffer(std::move(numbers))});
  }

  void add_lists() {
    TextDictionary texts;
    std::vector<std::int32_t> numbers;
    std::vector<std::int64_t> ends = {0};
    Validity valid;
    for (const std::vector<Cell>& row : table_.rows) {
      const auto* const list = std::get_if<std::vector<std::string>>(&row[column_]);
      valid.add(has_value(row[column_], list != nullptr));
      if (list != nullptr) {
        for (const std::string& text : *list) numbers.push_back(texts.number(text));
      }
      ends.push_back(static_cast<std::int64_t>(numbers.size()));
    }
    ArrowColumn items{.name = "item", .format = "i"};
    items.rows = static_cast<std::int64_t>(numbers.size());
    items.buffers = {{}, owned_buffer(std::move(numbers))};
    items.dictionary = std::move(texts).finish();
    out_.children.push_back(std::move(items));
    finish_column("+L", std::move(valid), {owned_buffer(std::move(ends))});
  }

  /// JSON, or values of several types as texts.
  void add_json() {
    auto bytes = std::make_shared<std::string>();
    std::vector<std::int64_t> ends = {0};
    Validity valid;
    for (const std::vector<Cell>& row : table_.rows) {
      valid.add(!std::holds_alternative<std::monostate>(row[column_]));
      append_text(row[column_], *bytes);
      ends.push_back(static_cast<std::int64_t>(bytes->size()));
    }
    const void* const data = bytes->data();
    finish_column("U", std::move(valid),
                  {owned_buffer(std::move(ends)), ArrowBuffer{std::move(bytes), data}});
  }

  static void append_text(const Cell& cell, std::string& out) {
    if (const auto* json = std::get_if<Json>(&cell)) {
      out += to_utf8(json->text);
    } else if (const auto* text = std::get_if<std::string>(&cell)) {
      out += to_utf8(*text);
    } else if (const auto* flag = std::get_if<bool>(&cell)) {
      out += *flag ? "true" : "false";
    } else if (const auto* list = std::get_if<std::vector<std::string>>(&cell)) {
      for (const std::string& item : *list) {
        out += (&item == &list->front() ? "" : ";") + to_utf8(item);
      }
    } else if (const auto whole = whole_in(cell)) {
      out += std::to_string(*whole);
    } else if (const auto real = real_in(cell)) {
      out += std::to_string(*real);
    }
  }

  void finish_column(const char* format, Validity valid, std::vector<ArrowBuffer> buffers) {
    out_.format = format;
    out_.nulls = valid.nulls();
    out_.buffers = std::move(buffers);
    out_.buffers.insert(out_.buffers.begin(), std::move(valid).finish());
  }

  const Table& table_;
  std::size_t column_;
  ArrowColumn out_;
};

}  // namespace

ArrowColumn arrow_column(ValueType type, const Table& table, std::size_t column) {
  return ColumnOfCells(type, table, column).finish();
}

}  // namespace tbtrace::python
