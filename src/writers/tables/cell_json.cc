#include "writers/tables/cell_json.h"

namespace tbtrace::writers {
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

void emit_cell(wire::JsonEmitter& json, const Cell& cell) { std::visit(Emit{json}, cell); }

}  // namespace tbtrace::writers
