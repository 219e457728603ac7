#include <tbtrace/writers.h>

#include "wire/json_emitter.h"

namespace tbtrace {
namespace {

struct Emit {
  wire::JsonEmitter& json;

  void operator()(std::monostate) const { json.null(); }
  void operator()(bool value) const { json.boolean(value); }
  void operator()(std::int64_t value) const { json.integer(value); }
  void operator()(std::uint64_t value) const { json.integer(value); }
  void operator()(double value) const { json.number(value); }
  void operator()(const std::string& value) const { json.text(value); }
  void operator()(const Json& value) const { json.raw(value.text); }
  void operator()(const std::vector<std::string>& values) const {
    json.begin_array();
    for (const std::string& value : values) json.text(value);
    json.end_array();
  }
};

}  // namespace

std::string table_json(std::string_view schema, const Table& table,
                       const std::vector<std::pair<std::string, std::string>>& members) {
  std::string text;
  wire::JsonEmitter json(text);
  json.begin_object();
  json.key("schema");
  json.text(schema);
  json.new_line();
  json.key("rows");
  json.begin_array();
  for (const std::vector<Cell>& row : table.rows) {
    json.new_line();
    json.begin_object();
    for (std::size_t column = 0; column < row.size(); ++column) {
      json.key(table.columns[column]);
      std::visit(Emit{json}, row[column]);
    }
    json.end_object();
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
  text += '\n';
  return text;
}

}  // namespace tbtrace
