#include <tbtrace/writers.h>

#include "writers/cell_text.h"

namespace tbtrace {
namespace {

void append_field(std::string& csv, const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    csv += text;
    return;
  }
  csv += '"';
  for (const char c : text) {
    if (c == '"') csv += '"';
    csv += c;
  }
  csv += '"';
}

}  // namespace

std::string table_csv(const Table& table) {
  std::string csv;
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    if (column > 0) csv += ',';
    append_field(csv, table.columns[column]);
  }
  csv += "\r\n";
  for (const std::vector<Cell>& row : table.rows) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      if (column > 0) csv += ',';
      append_field(csv, writers::cell_text(row[column]));
    }
    csv += "\r\n";
  }
  return csv;
}

}  // namespace tbtrace
