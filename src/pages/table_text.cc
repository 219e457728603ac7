#include "pages/table_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "pages/text_list.h"
#include "report/table_columns.h"
#include "wire/json_text.h"
#include "writers/tables/cell_json.h"

namespace tbtrace {
namespace {

using pages::TableContent;
using Rows = std::vector<std::size_t>;

/// Whole numbers up to this are exact in a double.
constexpr std::int64_t kExactInDouble = std::int64_t{1} << 53;

/// Points of a curve: several for each pixel of a wide screen.
constexpr std::size_t kMostPoints = 8000;

enum class ColumnType : std::uint8_t { number, integer, flag, text, json };

constexpr std::string_view kTypeNames[] = {"number", "integer", "flag", "text", "json"};

/// Whether JavaScript, whose numbers are doubles, may read another value.
bool is_inexact(const Cell& cell) {
  if (const auto* const value = std::get_if<std::int64_t>(&cell)) {
    return *value < -kExactInDouble || kExactInDouble < *value;
  }
  const auto* const value = std::get_if<std::uint64_t>(&cell);
  return value != nullptr && static_cast<std::uint64_t>(kExactInDouble) < *value;
}

ColumnType column_type(ValueType type, const Table& table, const Rows& rows, std::size_t column) {
  switch (type) {
    case ValueType::boolean:
      return ColumnType::flag;
    case ValueType::integer:
    case ValueType::number:
      break;
    case ValueType::text:
      return ColumnType::text;
    case ValueType::texts:
    case ValueType::list:
    case ValueType::any:
      return ColumnType::json;
  }
  const bool is_exact = std::ranges::none_of(
      rows, [&](std::size_t row) { return is_inexact(table.rows[row][column]); });
  return is_exact ? ColumnType::number : ColumnType::integer;
}

std::string json_of(const Cell& cell) {
  std::string text;
  wire::JsonEmitter json(text);
  writers::emit_cell(json, cell);
  return text;
}

/// The text of a cell in a column of texts.
std::string text_of(const Cell& cell) {
  const auto* const text = std::get_if<std::string>(&cell);
  return text == nullptr ? json_of(cell) : *text;
}

/// Like cut_text(), for JSON: what is too long becomes a JSON string of its beginning.
std::string cut_json(const std::string& text, std::size_t characters, std::size_t& cuts) {
  std::string cut = pages::cut_text(text, characters, cuts);
  if (cut == text) return cut;
  std::string quoted;
  wire::append_json_string(quoted, cut);
  return quoted;
}

void emit_texts(wire::JsonEmitter& json, const Table& table, const Rows& rows, std::size_t column,
                ColumnType type, const ViewLimits& limits, std::size_t& cuts) {
  std::vector<std::optional<std::string>> cells;
  cells.reserve(rows.size());
  for (const std::size_t row : rows) {
    const Cell& cell = table.rows[row][column];
    const bool has_value = !std::holds_alternative<std::monostate>(cell);
    cells.push_back(has_value ? std::optional(text_of(cell)) : std::nullopt);
  }
  // Cut texts may be equal where whole ones differ, so they are cut first.
  for (std::optional<std::string>& cell : cells) {
    if (!cell) continue;
    cell = type == ColumnType::json ? cut_json(*cell, 4 * limits.characters, cuts)
                                    : pages::cut_text(*cell, limits.characters, cuts);
  }
  std::vector<std::string_view> texts;
  for (const auto& cell : cells) {
    if (cell) texts.push_back(*cell);
  }
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  json.key("texts");
  json.begin_array();
  for (const std::string_view text : texts) json.text(text);
  json.end_array();
  json.key("values");
  json.begin_array();
  for (const auto& cell : cells) {
    if (!cell) {
      json.null();
      continue;
    }
    const auto place = std::lower_bound(texts.begin(), texts.end(), std::string_view(*cell));
    json.integer(place - texts.begin());
  }
  json.end_array();
}

void emit_values(wire::JsonEmitter& json, const Table& table, const Rows& rows, std::size_t column,
                 ColumnType type) {
  json.key("values");
  json.begin_array();
  for (const std::size_t row : rows) {
    const Cell& cell = table.rows[row][column];
    if (type == ColumnType::integer && !std::holds_alternative<std::monostate>(cell)) {
      json.text(json_of(cell));
    } else {
      writers::emit_cell(json, cell);
    }
  }
  json.end_array();
}

/// Of a figure of the summary, which has no description: that of its first value.
ValueType type_of_values(const Table& table, std::size_t column) {
  constexpr ValueType kTypes[] = {ValueType::number,  ValueType::boolean, ValueType::integer,
                                  ValueType::integer, ValueType::number,  ValueType::text,
                                  ValueType::texts,   ValueType::list};
  static_assert(std::size(kTypes) == std::variant_size_v<Cell>);
  const auto first = std::ranges::find_if(table.rows, [&](const std::vector<Cell>& row) {
    return !std::holds_alternative<std::monostate>(row[column]);
  });
  return kTypes[first == table.rows.end() ? 0 : (*first)[column].index()];
}

ColumnDescription description_of(const TableContent& content, std::size_t column) {
  const Table& table = content.report.table;
  const std::string_view key = table.columns[column];
  const auto found = std::ranges::find(content.columns, key, &ColumnDescription::name);
  if (found != content.columns.end()) return *found;
  return {.name = key, .type = type_of_values(table, column)};
}

/// `[words](page.md)` as `words`, because the page has no other pages.
std::string without_links(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const std::size_t open = text.find('[');
    const std::size_t close = text.find("](", open);
    const std::size_t end = text.find(')', close);
    if (end == std::string_view::npos) break;
    const std::size_t first = text.rfind('[', close);
    plain += text.substr(0, first);
    plain += text.substr(first + 1, close - first - 1);
    text.remove_prefix(end + 1);
  }
  return plain += text;
}

void emit_column(wire::JsonEmitter& json, const TableContent& content, const Rows& rows,
                 std::size_t column, const ViewLimits& limits, std::size_t& cuts) {
  const Table& table = content.report.table;
  const ColumnDescription description = description_of(content, column);
  const ColumnType type = column_type(description.type, table, rows, column);
  json.begin_object();
  json.member("key", table.columns[column]);
  json.member("unit", description.unit());
  json.member("meaning", without_links(description.meaning));
  json.member("type", kTypeNames[static_cast<std::size_t>(type)]);
  if (type == ColumnType::text || type == ColumnType::json) {
    emit_texts(json, table, rows, column, type, limits, cuts);
  } else {
    emit_values(json, table, rows, column, type);
  }
  json.end_object();
}

/// 0 without a value.
std::int64_t whole(const Cell& cell) {
  const auto* const value = std::get_if<std::int64_t>(&cell);
  return value == nullptr ? 0 : *value;
}

/// Rows of a curve that keep its course: of each stretch of records, the first one, the lowest and
/// the highest one of each device.
Rows thinned(const Table& table, std::size_t limit) {
  const auto value = report::column_named(table, "allocated_bytes");
  auto device = report::column_named(table, "device_name");
  if (!device) device = report::column_named(table, "device");
  const std::size_t stretches = std::max<std::size_t>(1, limit / 4);
  const std::size_t length = (table.rows.size() + stretches - 1) / stretches;
  Rows kept;
  for (std::size_t begin = 0; begin < table.rows.size(); begin += length) {
    const std::size_t end = std::min(begin + length, table.rows.size());
    std::vector<std::pair<std::size_t, std::size_t>> extremes;  // lowest, highest row of a device
    for (std::size_t row = begin; row < end; ++row) {
      const auto same = std::ranges::find_if(extremes, [&](const auto& of) {
        return !device || table.rows[of.first][*device] == table.rows[row][*device];
      });
      if (same == extremes.end()) {
        extremes.emplace_back(row, row);
        continue;
      }
      const std::int64_t bytes = whole(table.rows[row][*value]);
      if (bytes < whole(table.rows[same->first][*value])) same->first = row;
      if (bytes > whole(table.rows[same->second][*value])) same->second = row;
    }
    kept.push_back(begin);
    for (const auto& [low, high] : extremes) kept.insert(kept.end(), {low, high});
  }
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  return kept;
}

Rows rows_of(const TableContent& content, std::size_t limit) {
  const Table& table = content.report.table;
  limit = std::min(limit, content.is_curve ? kMostPoints : content.most_rows);
  if (content.is_curve && table.rows.size() > limit) return thinned(table, limit);
  Rows rows(std::min(limit, table.rows.size()));
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return rows;
}

void emit_text_or_null(wire::JsonEmitter& json, std::string_view key, std::string_view text) {
  json.key(key);
  text.empty() ? json.null() : json.text(text);
}

/// The columns that people see first. All rows of a trace are of one rank.
std::vector<std::string> shown_of(const TableContent& content) {
  std::vector<std::string> shown = content.report.shown;
  if (!content.is_of_job) std::erase(shown, "rank");
  return shown;
}

void emit_list(wire::JsonEmitter& json, std::string_view key,
               const std::vector<std::string>& list) {
  json.key(key);
  json.begin_array();
  for (const std::string& text : list) json.text(text);
  json.end_array();
}

void emit_tree(wire::JsonEmitter& json, const std::optional<AnalysisReport::Tree>& tree) {
  json.key("tree");
  if (!tree) return json.null();
  json.begin_object();
  json.member("name", tree->name);
  json.member("path", tree->path);
  json.member("depth", tree->depth);
  json.end_object();
}

}  // namespace

void pages::drop_rows(TableContent& content, std::size_t limit) {
  std::vector<std::vector<Cell>>& rows = content.report.table.rows;
  const Rows kept = rows_of(content, limit);
  if (kept.size() == rows.size()) return;
  std::vector<std::vector<Cell>> fewer;
  fewer.reserve(kept.size());
  for (const std::size_t row : kept) fewer.push_back(std::move(rows[row]));
  content.left_out += rows.size() - fewer.size();
  rows = std::move(fewer);
}

void pages::emit_table(wire::JsonEmitter& json, const TableContent& content,
                       const ViewLimits& limits) {
  const AnalysisReport& report = content.report;
  const Rows rows = rows_of(content, limits.rows);
  std::size_t cuts = 0;
  json.new_line();
  json.begin_object();
  json.member("name", content.name);
  json.member("title", content.title);
  emit_text_or_null(json, "command", content.command);
  json.key("rows");
  json.integer(rows.size());
  json.key("left_out");
  json.integer(content.left_out + report.table.rows.size() - rows.size());
  json.key("is_curve");
  json.boolean(content.is_curve);
  emit_text_or_null(json, "sort_by", content.sort_by);
  emit_list(json, "shown", shown_of(content));
  emit_tree(json, report.tree);
  json.key("columns");
  json.begin_array();
  for (std::size_t column = 0; column < report.table.columns.size(); ++column) {
    // The page has a table of what is in this list.
    if (report.table.columns[column] == "alive") continue;
    emit_column(json, content, rows, column, limits, cuts);
  }
  json.end_array();
  json.key("names_cut");
  json.integer(cuts);
  json.key("totals");
  json.begin_object();
  for (const auto& [name, value] : report.totals) {
    json.key(name);
    is_inexact(value) ? json.text(json_of(value)) : writers::emit_cell(json, value);
  }
  json.end_object();
  json.member("totals_label", report.totals_label);
  emit_list(json, "notes", report.notes);
  emit_text_or_null(json, "empty", content.empty);
  json.end_object();
}

}  // namespace tbtrace
