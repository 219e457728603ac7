#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <tbtrace/report.h>

#include "writers/tables/cell_text.h"
#include "writers/tables/table_formats.h"

namespace tbtrace {
namespace {

bool is_text(const Cell& cell) {
  return std::holds_alternative<std::string>(cell) ||
         std::holds_alternative<std::vector<std::string>>(cell) ||
         std::holds_alternative<Json>(cell);
}

/// The text as code, fenced by more backticks than it has in a row, so that nothing in it is
/// markup. Even there, a pipe would end the cell, and a newline the table.
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
  // Readers strip one blank from both ends if both have one, unless the text is all blanks.
  const bool stripped = content.front() == ' ' && content.back() == ' ' &&
                        content.find_first_not_of(' ') != std::string::npos;
  const bool padded = stripped || content.front() == '`' || content.back() == '`';
  return padded ? fence + " " + content + " " + fence : fence + content + fence;
}

struct MarkdownColumn {
  std::size_t number = 0;
  bool is_used = false;
  bool is_text = true;  // decided by the first row
};

/// The first column, and all columns with any value.
std::vector<MarkdownColumn> columns_of(report::TableRows& rows) {
  std::vector<MarkdownColumn> columns(rows.columns().size());
  for (std::size_t number = 0; number < columns.size(); ++number) {
    columns[number] = {.number = number, .is_used = number == 0};
  }
  bool first = true;
  while (const std::vector<Cell>* row = rows.next()) {
    for (MarkdownColumn& column : columns) {
      const Cell& cell = (*row)[column.number];
      if (first) column.is_text = is_text(cell);
      column.is_used = column.is_used || !writers::is_blank(cell);
    }
    first = false;
  }
  rows.rewind();
  std::erase_if(columns, [](const MarkdownColumn& column) { return !column.is_used; });
  return columns;
}

}  // namespace

void writers::write_markdown(report::TableRows& rows, io::TextSink& out) {
  const std::vector<MarkdownColumn> columns = columns_of(rows);
  std::string& markdown = out.text();
  markdown += "|";
  for (const MarkdownColumn& column : columns)
    markdown += " " + rows.columns()[column.number] + " |";
  markdown += "\n|";
  for (const MarkdownColumn& column : columns) markdown += column.is_text ? " --- |" : " ---: |";
  markdown += "\n";
  while (const std::vector<Cell>* row = rows.next()) {
    markdown += "|";
    for (const MarkdownColumn& column : columns) {
      const Cell& cell = (*row)[column.number];
      const std::string text = cell_text(cell);
      markdown += " ";
      markdown += is_text(cell) ? as_code(text) : text;
      markdown += " |";
    }
    markdown += "\n";
    if (!out.flow()) return;
  }
}

std::string table_markdown(const Table& table) {
  report::StoredTable rows(table);
  return io::text_of([&](io::TextSink& out) { writers::write_markdown(rows, out); });
}

}  // namespace tbtrace
