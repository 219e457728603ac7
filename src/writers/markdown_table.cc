#include <algorithm>
#include <cstddef>

#include <tbtrace/writers.h>

#include "writers/cell_text.h"

namespace tbtrace {
namespace {

bool is_text(const Cell& cell) {
  return std::holds_alternative<std::string>(cell) ||
         std::holds_alternative<std::vector<std::string>>(cell) ||
         std::holds_alternative<Json>(cell);
}

/// As code, fenced by more backticks than the text has in a row, so that nothing in it is markup.
/// A pipe would end the cell even there, and a newline the table.
std::string as_code(const std::string& text) {
  if (text.empty()) return {};
  std::size_t longest = 0;
  std::size_t run = 0;
  std::string content;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
    if (c == '|') {
      content += "\\|";
    } else {
      content += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  const std::string fence(longest + 1, '`');
  // A reader takes one blank from either end if both have one, but not if there is nothing else.
  const bool stripped = content.front() == ' ' && content.back() == ' ' &&
                        content.find_first_not_of(' ') != std::string::npos;
  const bool padded = stripped || content.front() == '`' || content.back() == '`';
  return padded ? fence + " " + content + " " + fence : fence + content + fence;
}

}  // namespace

std::string table_markdown(const Table& table) {
  std::vector<std::size_t> columns;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    const bool used = std::any_of(table.rows.begin(), table.rows.end(),
                                  [&](const auto& row) { return !writers::is_blank(row[column]); });
    if (used || column == 0) columns.push_back(column);
  }
  std::string head = "|";
  std::string rule = "|";
  for (const std::size_t column : columns) {
    const bool text = table.rows.empty() || is_text(table.rows.front()[column]);
    head += " " + table.columns[column] + " |";
    rule += text ? " --- |" : " ---: |";
  }
  std::string markdown = head + "\n" + rule + "\n";
  for (const std::vector<Cell>& row : table.rows) {
    markdown += "|";
    for (const std::size_t column : columns) {
      const std::string text = writers::cell_text(row[column]);
      markdown += " " + (is_text(row[column]) ? as_code(text) : text) + " |";
    }
    markdown += "\n";
  }
  return markdown;
}

}  // namespace tbtrace
