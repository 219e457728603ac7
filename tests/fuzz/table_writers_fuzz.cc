// Hostile text in tables: CSV, Markdown and JSON, read back by what their readers would do.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <simdjson.h>

#include <tbtrace/report.h>

#include "base/utf8.h"
#include "fuzz/require.h"

namespace {

using namespace tbtrace;
using fuzz::require;
using Rows = std::vector<std::vector<std::string>>;

/// RFC 4180.
Rows read_csv(std::string_view csv) {
  Rows rows;
  std::vector<std::string> row = {""};
  for (std::size_t at = 0; at < csv.size(); ++at) {
    if (csv[at] == '"') {
      for (++at; at < csv.size() && (csv[at] != '"' || csv.substr(at + 1).starts_with('"')); ++at) {
        if (csv[at] == '"') ++at;
        row.back() += csv[at];
      }
    } else if (csv[at] == ',') {
      row.emplace_back();
    } else if (csv.substr(at).starts_with("\r\n")) {
      rows.push_back(row);
      row = {""};
      ++at;
    } else {
      require(csv[at] != '\r' && csv[at] != '\n', "lines of CSV end in CRLF");
      row.back() += csv[at];
    }
  }
  return rows;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// A code span of CommonMark in a cell of a GitHub table.
std::string read_code(std::string_view cell) {
  cell = trimmed(cell);
  if (cell.empty()) return {};
  const std::size_t fence = cell.find_first_not_of('`');
  require(fence != std::string_view::npos && fence > 0, "text in Markdown is code");
  const std::string_view ticks = cell.substr(0, fence);
  std::string_view content = cell.substr(fence);
  require(content.ends_with(ticks), "code ends as it starts");
  content.remove_suffix(fence);
  require(!content.ends_with('`') && content.find(ticks) == std::string_view::npos,
          "code does not hold its own fence");
  const bool blank = content.find_first_not_of(' ') == std::string_view::npos;
  if (!blank && content.starts_with(' ') && content.ends_with(' ')) {
    content = content.substr(1, content.size() - 2);
  }
  std::string text;
  for (std::size_t at = 0; at < content.size(); ++at) {
    if (content.substr(at).starts_with("\\|")) ++at;
    text += content[at];
  }
  return text;
}

/// The rows of a GitHub table, without its head.
Rows read_markdown(std::string_view markdown) {
  Rows rows;
  std::size_t line_number = 0;
  for (; !markdown.empty(); ++line_number) {
    const std::size_t end = markdown.find('\n');
    require(end != std::string_view::npos, "lines of Markdown end in a newline");
    const std::string_view line = markdown.substr(0, end);
    markdown.remove_prefix(end + 1);
    require(line.starts_with("| ") && line.ends_with(" |"), "a row of Markdown has both its ends");
    if (line_number < 2) continue;
    std::vector<std::string>& row = rows.emplace_back();
    std::size_t start = 1;
    for (std::size_t at = 1; at < line.size(); ++at) {
      if (line[at] != '|' || line[at - 1] == '\\') continue;
      row.push_back(read_code(line.substr(start, at - start)));
      start = at + 1;
    }
  }
  return rows;
}

std::string without_controls(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  // Three cells, and a third row that is never blank, so that all columns are written.
  const std::size_t third = size / 3;
  const std::vector<std::string> texts = {std::string(input.substr(0, third)),
                                          std::string(input.substr(third, third)),
                                          std::string(input.substr(2 * third))};
  Table table;
  table.columns = {"first", "second", "third"};
  table.rows = {{texts[0], texts[1], texts[2]}, {texts[2], texts[0], texts[1]}, {"a", "b", "c"}};

  Rows expected = {table.columns};
  for (const std::vector<Cell>& row : table.rows) {
    std::vector<std::string>& cells = expected.emplace_back();
    for (const Cell& cell : row) cells.push_back(std::get<std::string>(cell));
  }
  require(read_csv(table_csv(table)) == expected, "CSV comes back");

  expected.erase(expected.begin());
  Rows shown = expected;
  for (std::vector<std::string>& row : shown) {
    for (std::string& cell : row) cell = without_controls(cell);
  }
  require(read_markdown(table_markdown(table)) == shown, "Markdown shows the texts");

  static simdjson::dom::parser parser;
  const std::string json = table_json("tbtrace.fuzz/1", table, {{"member", "[1]"}});
  simdjson::dom::array rows;
  require(parser.parse(json)["rows"].get(rows) == simdjson::SUCCESS, "JSON is JSON");
  require(rows.size() == expected.size(), "JSON has all rows");
  std::size_t row_number = 0;
  for (const simdjson::dom::element row : rows) {
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
      std::string_view text;
      require(row[table.columns[column]].get(text) == simdjson::SUCCESS, "JSON has all cells");
      require(text == to_utf8(expected[row_number][column]), "JSON comes back");
    }
    ++row_number;
  }
  return 0;
}
