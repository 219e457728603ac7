#include "writers/tables/html_table.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "report/table_columns.h"
#include "writers/tables/shown_cell.h"

namespace tbtrace::writers {
namespace {

void append_escaped(std::string_view text, std::string& html) {
  for (const char character : text) {
    switch (character) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      default:
        html += character;
    }
  }
}

/// Blanks that indent a name would be lost.
void append_cell(std::string_view column, const Cell& cell, std::string& html) {
  html += holds_number(cell) ? "<td>" : "<td style=\"text-align:left\">";
  const std::string text = shown_cell(column, cell);
  const std::size_t indent = std::min(text.find_first_not_of(' '), text.size());
  for (std::size_t blank = 0; blank < indent; ++blank) html += "&nbsp;";
  append_escaped(std::string_view(text).substr(indent), html);
  html += "</td>";
}

void append_total(const TotalsLine& line, const std::string& column, std::string& html) {
  const auto total = std::ranges::find(line.cells, column, &std::pair<std::string, Cell>::first);
  if (total == line.cells.end()) {
    html += "<td></td>";
  } else {
    append_cell(column, total->second, html);
  }
}

void append_paragraph(std::string_view text, std::string& html) {
  html += "<p>";
  append_escaped(text, html);
  html += "</p>\n";
}

/// The columns that have a value in some row.
std::vector<std::size_t> used_columns(const PeoplesReport& shown) {
  std::vector<std::size_t> columns;
  for (const std::string& name : shown.columns) {
    const std::optional<std::size_t> column = report::column_named(shown.rows, name);
    if (column && has_values(shown.rows, *column)) columns.push_back(*column);
  }
  return columns;
}

void append_table(const PeoplesReport& shown, std::span<const std::size_t> columns,
                  std::string& html) {
  html += "<table>\n<thead><tr>";
  for (const std::size_t column : columns) {
    html += "<th>";
    append_escaped(heading_of(shown.rows.columns[column]), html);
    html += "</th>";
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const std::vector<Cell>& row : shown.rows.rows) {
    html += "<tr>";
    for (const std::size_t column : columns) {
      append_cell(shown.rows.columns[column], row[column], html);
    }
    html += "</tr>\n";
  }
  html += "</tbody>\n";
  if (!shown.line.cells.empty()) {
    html += "<tfoot><tr><th>";
    append_escaped(shown.line.label, html);
    html += "</th>";
    for (const std::size_t column : columns.subspan(1)) {
      append_total(shown.line, shown.rows.columns[column], html);
    }
    html += "</tr></tfoot>\n";
  }
  html += "</table>\n";
}

}  // namespace

std::string html_table(const AnalysisReport& report, const PeoplesReport& shown) {
  std::string html;
  const std::vector<std::size_t> columns = used_columns(shown);
  if (columns.empty()) {
    append_paragraph("no rows", html);
  } else {
    append_table(shown, columns, html);
  }
  if (shown.hidden_rows > 0) {
    append_paragraph(std::to_string(shown.rows.rows.size()) + " of " +
                         std::to_string(report.table.rows.size()) + " rows",
                     html);
  }
  for (const auto& [name, cell] : shown.totals) {
    if (std::holds_alternative<std::monostate>(cell)) continue;
    append_paragraph(heading_of(name) + ": " + shown_cell(name, cell), html);
  }
  for (const std::string& note : report.notes) append_paragraph(printable(note), html);
  return html;
}

}  // namespace tbtrace::writers
