#include "cell_columns.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string_view>
#include <variant>

#include <tbtrace/arguments.h>

#include "base/utf8.h"

namespace tbtrace::python {
namespace {

enum class ColumnType { none, boolean, integer, natural, real, text, list, json };

struct TypeOfCell {
  ColumnType operator()(std::monostate) const { return ColumnType::none; }
  ColumnType operator()(bool) const { return ColumnType::boolean; }
  ColumnType operator()(std::int64_t) const { return ColumnType::integer; }
  ColumnType operator()(std::uint64_t value) const {
    return value <= std::uint64_t{std::numeric_limits<std::int64_t>::max()} ? ColumnType::integer
                                                                            : ColumnType::natural;
  }
  ColumnType operator()(double) const { return ColumnType::real; }
  ColumnType operator()(const std::string&) const { return ColumnType::text; }
  ColumnType operator()(const std::vector<std::string>&) const { return ColumnType::list; }
  ColumnType operator()(const Json&) const { return ColumnType::json; }
};

bool is_number(ColumnType type) {
  return type == ColumnType::integer || type == ColumnType::natural || type == ColumnType::real;
}

/// The type that has the values of both.
ColumnType joined(ColumnType left, ColumnType right) {
  if (left == right || right == ColumnType::none) return left;
  if (left == ColumnType::none) return right;
  return is_number(left) && is_number(right) ? std::max(left, right) : ColumnType::json;
}

struct NamedType {
  std::string_view name;  ///< of a column, or how it ends
  ColumnType type;
  std::string_view schema = {};  ///< only there
};

// tests/python/tables_test.py compares these with the types of columns that have values.
constexpr std::array kTypes = std::to_array<NamedType>({
    {"device", ColumnType::text, "tbtrace.lines/1"},
    {"device", ColumnType::text, "tbtrace.memory/1"},
    {"line", ColumnType::text, "tbtrace.memory/1"},
    {"line", ColumnType::text, "tbtrace.kernels/1"},
    {"line", ColumnType::text, "tbtrace.ops/1"},
    {"input_shapes", ColumnType::text, "tbtrace.flops/1"},
    {"input_shapes", ColumnType::text, "tbtrace.events/1"},
    {"event", ColumnType::integer, "tbtrace.events/1"},
    {"parent", ColumnType::integer, "tbtrace.events/1"},
    {"operator", ColumnType::integer, "tbtrace.events/1"},
    {"launch", ColumnType::integer, "tbtrace.events/1"},
    {"is_user_annotation", ColumnType::boolean},
    {"outlier", ColumnType::boolean},
    {"tensor_cores_used", ColumnType::boolean},
    {"category_estimated", ColumnType::boolean},
    {"input_shapes", ColumnType::json},
    {"grid", ColumnType::json},
    {"block", ColumnType::json},
    {"alive", ColumnType::json},
    {"stack", ColumnType::list},
});

constexpr std::array kEndings = std::to_array<NamedType>({
    {"mean_ns", ColumnType::real},
    {"stddev_ns", ColumnType::real},
    {"_percent", ColumnType::real},
    {"_share", ColumnType::real},
    {"utilization", ColumnType::real},
    {"mean", ColumnType::real},
    {"stddev", ColumnType::real},
    {"_per_s", ColumnType::real},
    {"_per_sm", ColumnType::real},
    {"_per_byte", ColumnType::real},
    {"_us", ColumnType::real},
    {"median", ColumnType::real},
    {"quartile_1", ColumnType::real},
    {"quartile_3", ColumnType::real},
    {"_ns", ColumnType::integer},
    {"bytes", ColumnType::integer},
    {"count", ColumnType::integer},
    {"rank", ColumnType::integer},
    {"device", ColumnType::integer},
    {"step", ColumnType::integer},
    {"number", ColumnType::integer},
    {"calls", ColumnType::integer},
    {"depth", ColumnType::integer},
    {"flops", ColumnType::integer},
    {"macs", ColumnType::integer},
    {"parameters", ColumnType::integer},
    {"line", ColumnType::integer},
    {"registers", ColumnType::integer},
    {"_min", ColumnType::integer},
    {"_max", ColumnType::integer},
    {"launches", ColumnType::integer},
    {"launched", ColumnType::integer},
    {"_launch", ColumnType::integer},
    {"kernels", ColumnType::integer},
    {"activities", ColumnType::integer},
    {"modules", ColumnType::integer},
    {"operators", ColumnType::integer},
    {"id", ColumnType::integer, "tbtrace.modules/1"},
    {"allocations", ColumnType::integer},
    {"out_of_memory", ColumnType::integer},
    {"_offset", ColumnType::integer},
});

/// Of a column of events that is an argument.
std::optional<ColumnType> type_of_argument(std::string_view name) {
  const auto* const row = std::ranges::find(kArgumentRows, name, &ArgumentRow::name);
  if (row == kArgumentRows.end()) return std::nullopt;
  if (row->type == ArgumentType::integer) return ColumnType::integer;
  return row->type == ArgumentType::real ? ColumnType::real : ColumnType::text;
}

ColumnType type_by_name(std::string_view schema, std::string_view name) {
  if (schema == "tbtrace.events/1") {
    if (const auto type = type_of_argument(name)) return *type;
  }
  const auto fits_schema = [schema](const NamedType& row) {
    return row.schema.empty() || row.schema == schema;
  };
  for (const NamedType& row : kTypes) {
    if (fits_schema(row) && name == row.name) return row.type;
  }
  for (const NamedType& row : kEndings) {
    if (fits_schema(row) && name.ends_with(row.name)) return row.type;
  }
  return ColumnType::text;
}

/// The value as a number of the column's type; nullopt if the cell is empty.
template <typename Number>
std::optional<Number> number_in(const Cell& cell) {
  if (const auto* value = std::get_if<std::int64_t>(&cell)) return static_cast<Number>(*value);
  if (const auto* value = std::get_if<std::uint64_t>(&cell)) return static_cast<Number>(*value);
  if (const auto* value = std::get_if<double>(&cell)) return static_cast<Number>(*value);
  return std::nullopt;
}

class ColumnOfCells {
 public:
  ColumnOfCells(std::string_view schema, const Table& table, std::size_t column)
      : table_(table), column_(column) {
    ColumnType type = ColumnType::none;
    for (const std::vector<Cell>& row : table.rows) {
      type = joined(type, std::visit(TypeOfCell(), row[column]));
    }
    out_.name = table.columns[column];
    out_.rows = static_cast<std::int64_t>(table.rows.size());
    add(type == ColumnType::none ? type_by_name(schema, out_.name) : type);
  }

  ArrowColumn finish() && { return std::move(out_); }

 private:
  void add(ColumnType type) {
    switch (type) {
      case ColumnType::none:
      case ColumnType::text:
        return add_texts();
      case ColumnType::boolean:
        return add_booleans();
      case ColumnType::integer:
        return add_numbers<std::int64_t>("l");
      case ColumnType::natural:
        return add_numbers<std::uint64_t>("L");
      case ColumnType::real:
        return add_numbers<double>("g");
      case ColumnType::list:
        return add_lists();
      case ColumnType::json:
        return add_json();
    }
  }

  template <typename Number>
  void add_numbers(const char* format) {
    std::vector<Number> values;
    values.reserve(table_.rows.size());
    Validity valid;
    for (const std::vector<Cell>& row : table_.rows) {
      const std::optional<Number> value = number_in<Number>(row[column_]);
      valid.add(value.has_value());
      values.push_back(value.value_or(Number{}));
    }
    finish_column(format, std::move(valid), {owned_buffer(std::move(values))});
  }

  void add_booleans() {
    std::vector<std::uint8_t> bits((table_.rows.size() + 7) / 8);
    Validity valid;
    for (std::size_t row = 0; row < table_.rows.size(); ++row) {
      const bool* const value = std::get_if<bool>(&table_.rows[row][column_]);
      valid.add(value != nullptr);
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
      valid.add(text != nullptr);
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
      valid.add(list != nullptr);
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
    } else if (const auto whole = number_in<std::int64_t>(cell);
               whole && !std::holds_alternative<double>(cell)) {
      out += std::to_string(*whole);
    } else if (const auto real = number_in<double>(cell)) {
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

ArrowColumn arrow_column(const std::string& schema, const Table& table, std::size_t column) {
  return ColumnOfCells(schema, table, column).finish();
}

}  // namespace tbtrace::python
