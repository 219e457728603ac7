#include <algorithm>
#include <string_view>
#include <variant>

#include "base/utf8.h"
#include "table.h"

namespace tbtrace::python {
namespace {

void append_escaped(std::string_view text, std::string& html) {
  for (const char character : to_utf8(text)) {
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

struct CellText {
  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(std::uint64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return std::to_string(value); }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(const Json& value) const { return value.text; }
  std::string operator()(const std::vector<std::string>& values) const {
    std::string text;
    for (const std::string& value : values) text += (text.empty() ? "" : "; ") + value;
    return text;
  }
};

bool is_text(const Cell& cell) {
  return !std::holds_alternative<std::int64_t>(cell) &&
         !std::holds_alternative<std::uint64_t>(cell) && !std::holds_alternative<double>(cell);
}

/// The columns that people see and in which a row has a value.
std::vector<std::size_t> columns_with_values(const TableData& data, const Table& table) {
  std::vector<std::size_t> columns;
  for (const std::string& name : data.shown()) {
    const auto place = std::ranges::find(table.columns, name);
    if (place == table.columns.end()) continue;
    const auto column = static_cast<std::size_t>(place - table.columns.begin());
    const auto has_value = [column](const std::vector<Cell>& row) {
      return !std::holds_alternative<std::monostate>(row[column]);
    };
    if (std::ranges::any_of(table.rows, has_value)) columns.push_back(column);
  }
  return columns;
}

}  // namespace

std::string html_table(const TableData& data, std::size_t most) {
  const Table table = data.rows(0, most);
  const std::vector<std::size_t> columns = columns_with_values(data, table);
  std::string html = "<table>\n<thead><tr>";
  for (const std::size_t column : columns) {
    html += "<th>";
    append_escaped(table.columns[column], html);
    html += "</th>";
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const std::vector<Cell>& row : table.rows) {
    html += "<tr>";
    for (const std::size_t column : columns) {
      html += is_text(row[column]) ? "<td style=\"text-align:left\">" : "<td>";
      append_escaped(std::visit(CellText(), row[column]), html);
      html += "</td>";
    }
    html += "</tr>\n";
  }
  html += "</tbody>\n</table>\n";
  if (data.size() > table.rows.size()) {
    html += "<p>" + std::to_string(table.rows.size()) + " of " + std::to_string(data.size()) +
            " rows</p>\n";
  }
  return html;
}

}  // namespace tbtrace::python
