#include <tbtrace/report.h>

#include "wire/json_emitter.h"
#include "writers/tables/cell_json.h"
#include "writers/tables/table_formats.h"

namespace tbtrace {
void writers::write_json(std::string_view schema, report::TableRows& rows,
                         const std::vector<std::pair<std::string, std::string>>& members,
                         io::TextSink& out) {
  wire::JsonEmitter json(out.text());
  json.begin_object();
  json.key("schema");
  json.text(schema);
  json.new_line();
  json.key("rows");
  json.begin_array();
  while (const std::vector<Cell>* row = rows.next()) {
    json.new_line();
    json.begin_object();
    for (std::size_t column = 0; column < row->size(); ++column) {
      json.key(rows.columns()[column]);
      emit_cell(json, (*row)[column]);
    }
    json.end_object();
    if (!out.flow()) return;
  }
  json.new_line();
  json.end_array();
  for (const auto& [name, value] : members) {
    json.new_line();
    json.key(name);
    json.raw(value);
  }
  json.new_line();
  json.end_object();
  out.text() += '\n';
}

std::string table_json(std::string_view schema, const Table& table,
                       const std::vector<std::pair<std::string, std::string>>& members) {
  report::StoredTable rows(table);
  return io::text_of([&](io::TextSink& out) { writers::write_json(schema, rows, members, out); });
}

}  // namespace tbtrace
