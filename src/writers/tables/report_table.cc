#include "writers/tables/report_table.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/utf8.h"
#include "report/table_columns.h"
#include "writers/tables/column_fit.h"

namespace tbtrace::writers {
namespace {

constexpr std::size_t kWidestText = 60;  // characters
constexpr std::size_t kLeastText = 24;   // on a terminal that is narrower than the table

struct Column {
  std::string heading;
  std::vector<std::string> cells;
  std::size_t width = 0;
  bool is_right_aligned = true;
};

void add_cell(Column& column, std::string text) {
  column.width = std::max(column.width, utf8_length(text));
  column.cells.push_back(std::move(text));
}

std::string total_of(const TotalsLine& totals, const std::string& column) {
  for (const auto& [name, cell] : totals.cells) {
    if (name == column) return cut_middle(shown_cell(column, cell), kWidestText);
  }
  return {};
}

/// nullopt if no row has a value.
std::optional<Column> column_of(const Table& table, const std::string& name) {
  const std::optional<std::size_t> number = report::column_named(table, name);
  if (!number) return std::nullopt;
  Column column;
  column.heading = heading_of(name);
  column.width = utf8_length(column.heading);
  bool any = false;
  for (const std::vector<Cell>& row : table.rows) {
    const Cell& cell = row[*number];
    const bool has_value = !std::holds_alternative<std::monostate>(cell);
    any = any || has_value;
    if (has_value && !holds_number(cell)) column.is_right_aligned = false;
    add_cell(column, cut_middle(shown_cell(name, cell), kWidestText));
  }
  return any ? std::optional(std::move(column)) : std::nullopt;
}

/// A row with the totals' label in the first column.
void add_totals(std::vector<Column>& columns, const std::vector<const std::string*>& names,
                const TotalsLine& totals) {
  for (std::size_t column = 0; column < columns.size(); ++column) {
    add_cell(columns[column], column == 0 ? totals.label : total_of(totals, *names[column]));
  }
}

/// Without their row if no column that is left has a total.
void remove_empty_totals(std::vector<Column>& columns) {
  const bool has_any = std::any_of(columns.begin() + 1, columns.end(), [](const Column& column) {
    return !column.cells.back().empty();
  });
  if (has_any) return;
  for (Column& column : columns) column.cells.pop_back();
}

void add_padded(std::string& line, const std::string& text, const Column& column) {
  const std::string blanks(column.width - utf8_length(text), ' ');
  line += column.is_right_aligned ? blanks + text : text + blanks;
}

void add_line(std::string& text, std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  text += line + "\n";
}

std::string text_of(const std::vector<Column>& columns, std::size_t rows,
                    std::span<const std::string> below) {
  std::string text;
  std::string headings;
  std::string rule;
  const std::string gap(kColumnGap, ' ');
  for (const Column& column : columns) {
    if (!headings.empty()) {
      headings += gap;
      rule += gap;
    }
    add_padded(headings, column.heading, column);
    rule += std::string(column.width, '-');
  }
  add_line(text, headings);
  add_line(text, rule);
  for (std::size_t row = 0; row < rows; ++row) {
    std::string line;
    for (const Column& column : columns) {
      if (&column != &columns.front()) line += gap;
      add_padded(line, column.cells[row], column);
    }
    add_line(text, line);
    if (row < below.size()) text += below[row];
  }
  return text;
}

/// The fewest characters in which texts that differ still do, at least kLeastText.
std::size_t least_width(const Column& column) {
  const std::set<std::string_view> texts(column.cells.begin(), column.cells.end());
  std::size_t width = std::min(column.width, std::max(kLeastText, utf8_length(column.heading)));
  for (; width < column.width; ++width) {
    std::set<std::string> cut;
    for (const std::string_view text : texts) cut.insert(cut_middle(std::string(text), width));
    if (cut.size() == texts.size()) break;
  }
  return width;
}

/// Cuts texts and removes the last columns, so that the others fit on a line.
void fit(std::vector<Column>& columns, std::size_t line) {
  std::vector<ColumnWidth> limits;
  for (const Column& column : columns) {
    const bool is_whole = column.is_right_aligned || line == 0;
    limits.push_back({column.width, is_whole ? column.width : least_width(column)});
  }
  const std::vector<std::size_t> widths = fit_columns(limits, line);
  columns.resize(widths.size());
  for (std::size_t column = 0; column < columns.size(); ++column) {
    if (columns[column].width == widths[column]) continue;
    columns[column].width = widths[column];
    for (std::string& cell : columns[column].cells) cell = cut_middle(cell, widths[column]);
  }
}

std::string more_text(const TextLayout& layout, std::size_t hidden_columns) {
  std::string text;
  if (layout.hidden_rows > 0) {
    text += fmt::format("{} more row{}", layout.hidden_rows, layout.hidden_rows == 1 ? "" : "s");
  }
  if (hidden_columns > 0) {
    text += fmt::format("{}{} more column{}{}{}", text.empty() ? "" : ", ", hidden_columns,
                        hidden_columns == 1 ? "" : "s", layout.column_hint.empty() ? "" : "; ",
                        layout.column_hint);
  }
  return text.empty() ? text : "... and " + text + "\n";
}

}  // namespace

bool has_values(const Table& table, std::size_t column) {
  return std::ranges::any_of(table.rows, [&](const std::vector<Cell>& row) {
    return !std::holds_alternative<std::monostate>(row[column]);
  });
}

std::string report_table(const Table& table, std::span<const std::string> shown,
                         const TextLayout& layout, const TotalsLine* totals,
                         std::span<const std::string> below) {
  std::vector<Column> columns;
  std::vector<const std::string*> names;
  for (const std::string& name : shown) {
    auto column = column_of(table, name);
    if (!column) continue;
    columns.push_back(*std::move(column));
    names.push_back(&name);
  }
  if (totals != nullptr) add_totals(columns, names, *totals);
  const std::size_t all = columns.size() + layout.hidden_columns;
  if (columns.empty()) return more_text(layout, 0);
  fit(columns, layout.width);
  if (totals != nullptr) remove_empty_totals(columns);
  return text_of(columns, columns.front().cells.size(), below) +
         more_text(layout, all - columns.size());
}

std::string report_notes(std::span<const std::string> notes) {
  std::string text;
  for (const std::string& note : notes) text += printable(note) + "\n";
  return text;
}

std::string report_totals(std::span<const std::pair<std::string, Cell>> totals) {
  std::size_t width = 0;
  for (const auto& [name, cell] : totals) width = std::max(width, heading_of(name).size());
  std::string text;
  for (const auto& [name, cell] : totals) {
    if (std::holds_alternative<std::monostate>(cell)) continue;
    std::string heading = heading_of(name);
    heading.resize(width, ' ');
    text += heading + "  " + shown_cell(name, cell) + "\n";
  }
  return text;
}

}  // namespace tbtrace::writers
