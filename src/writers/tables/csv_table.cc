#include <tbtrace/report.h>

#include "writers/tables/cell_text.h"
#include "writers/tables/table_formats.h"

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

void writers::write_csv(report::TableRows& rows, io::TextSink& out) {
  std::string& csv = out.text();
  for (std::size_t column = 0; column < rows.columns().size(); ++column) {
    if (column > 0) csv += ',';
    append_field(csv, rows.columns()[column]);
  }
  csv += "\r\n";
  while (const std::vector<Cell>* row = rows.next()) {
    for (std::size_t column = 0; column < row->size(); ++column) {
      if (column > 0) csv += ',';
      append_field(csv, cell_text((*row)[column]));
    }
    csv += "\r\n";
    if (!out.flow()) return;
  }
}

std::string table_csv(const Table& table) {
  report::StoredTable rows(table);
  return io::text_of([&](io::TextSink& out) { writers::write_csv(rows, out); });
}

}  // namespace tbtrace
