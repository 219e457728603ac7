// The columns and totals of a table, each in one place: its name, type and meaning, where a row has
// its value, and whether people see it. Rows are structs; types follow from their members.
// To add a column, add a line to the list of its table.
// Constants and pure functions.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <tbtrace/tables.h>

#include "base/bounded_sum.h"
#include "report/totals.h"

namespace tbtrace::report {

namespace typed_detail {

template <typename Value>
struct ValueOf {
  using Type = Value;
  static constexpr bool kHasNulls = false;
};
template <typename Value>
struct ValueOf<std::optional<Value>> {
  using Type = Value;
  static constexpr bool kHasNulls = true;
};

template <typename Value>
constexpr ValueType value_type() {
  if constexpr (std::same_as<Value, bool>) return ValueType::boolean;
  if constexpr (std::integral<Value>) return ValueType::integer;
  if constexpr (std::floating_point<Value>) return ValueType::number;
  if constexpr (std::same_as<Value, std::vector<std::string>>) return ValueType::texts;
  if constexpr (std::same_as<Value, Json>) return ValueType::list;
  return ValueType::text;
}

template <typename Value>
Cell cell_of(Value&& value) {
  using Plain = std::remove_cvref_t<Value>;
  if constexpr (ValueOf<Plain>::kHasNulls) {
    return value ? cell_of(*std::forward<Value>(value)) : Cell();
  } else if constexpr (std::same_as<Plain, std::string_view>) {
    return std::string(value);
  } else {
    return std::forward<Value>(value);
  }
}

}  // namespace typed_detail

/// A column of rows that are a `Row` each.
template <typename Row>
struct TypedColumn {
  ColumnDescription description;
  Cell (*value)(const Row& row);
  int place = 0;  ///< among the columns that people see, from 1 on; 0: it is not one of them

  /// `kGet` is a member, a function or a lambda. An optional makes a column with nulls.
  template <auto kGet>
  static constexpr TypedColumn of(std::string_view name, std::string_view meaning, int place = 0) {
    using Got = std::remove_cvref_t<std::invoke_result_t<decltype(kGet), const Row&>>;
    using Value = typed_detail::ValueOf<Got>;
    return {{.name = name,
             .type = typed_detail::value_type<typename Value::Type>(),
             .has_nulls = Value::kHasNulls,
             .meaning = meaning},
            [](const Row& row) { return typed_detail::cell_of(std::invoke(kGet, row)); },
            place};
  }
};

/// A total over rows that are a `Row` each: a sum, or a value derived from other totals.
template <typename Row>
struct TypedTotal {
  using Totals = AnalysisReport::Totals;

  ColumnDescription description;
  std::int64_t (*summand)(const Row& row) = nullptr;
  Cell (*derive)(const Totals& sums) = nullptr;

  template <auto kGet>
  static constexpr TypedTotal sum_of(std::string_view name, std::string_view meaning = {}) {
    return {{.name = name, .type = ValueType::integer, .meaning = meaning},
            [](const Row& row) -> std::int64_t { return std::invoke(kGet, row); }};
  }
};

template <typename List>
std::vector<ColumnDescription> described(const List& list) {
  std::vector<ColumnDescription> columns;
  for (const auto& each : list) columns.push_back(each.description);
  return columns;
}

/// Fills the table of a report, and the list of what people see.
template <typename Columns, std::ranges::input_range Rows>
void set_rows(AnalysisReport& report, const Columns& columns, const Rows& rows) {
  for (const auto& column : columns) report.table.columns.emplace_back(column.description.name);
  for (const auto& row : rows) {
    std::vector<Cell>& cells = report.table.rows.emplace_back();
    cells.reserve(std::size(columns));
    for (const auto& column : columns) cells.push_back(column.value(row));
  }
  std::vector<std::pair<int, std::string_view>> shown;
  for (const auto& column : columns) {
    if (column.place > 0) shown.emplace_back(column.place, column.description.name);
  }
  std::ranges::sort(shown);
  for (const auto& [place, name] : shown) report.shown.emplace_back(name);
}

/// The totals of several reports: derived totals are computed again from the sums.
template <const auto& kTotals>
AnalysisReport::Totals derived_totals(const AnalysisReport::Totals& sums, const Table& /*rows*/) {
  AnalysisReport::Totals totals = sums;
  for (const auto& total : kTotals) {
    Cell* const cell = total_named(totals, total.description.name);
    if (cell != nullptr && total.derive != nullptr) *cell = total.derive(sums);
  }
  return totals;
}

/// Sets the totals of a report to those of its rows.
template <const auto& kTotals, std::ranges::input_range Rows>
void set_totals(AnalysisReport& report, const Rows& rows) {
  for (const auto& total : kTotals) {
    WideInteger sum = 0;
    for (const auto& row : rows) sum += total.summand == nullptr ? 0 : total.summand(row);
    report.totals.emplace_back(total.description.name, bounded(sum));
  }
  report.totals = derived_totals<kTotals>(report.totals, report.table);
  report.joined_totals = derived_totals<kTotals>;
}

}  // namespace tbtrace::report
