#include <string>

#include <tbtrace/convert.h>

#include "wire/json_emitter.h"

namespace tbtrace {
namespace {

std::string_view state_name(ConvertedInput::State state) {
  switch (state) {
    case ConvertedInput::State::written:
      return "written";
    case ConvertedInput::State::skipped:
      return "skipped";
    case ConvertedInput::State::failed:
      return "failed";
    case ConvertedInput::State::not_tried:
      return "not_tried";
  }
  return "";
}

void add_input(wire::JsonEmitter& json, const ConvertedInput& input) {
  const bool has_file = !input.file.path.empty();
  json.new_line();
  json.begin_object();
  json.key("input");
  json.text(input.input);
  json.key("state");
  json.text(state_name(input.state));
  json.key("run");
  json.text(input.file.run);
  if (has_file) {
    json.key("worker");
    json.text(input.file.worker);
    json.key("span_ns");
    json.integer(input.file.span);
    json.key("path");
    json.text(input.file.path);
    json.key("ranges");
    json.integer(input.ranges);
  }
  if (input.state == ConvertedInput::State::written) {
    json.key("size_bytes");
    json.integer(input.file.bytes);
  }
  json.key("changes");
  json.begin_object();
  for (const auto& [id, count] : input.file.changes) {
    json.key(id);
    json.integer(count);
  }
  json.end_object();
  json.key("issues");
  json.begin_object();
  for (const Issue& issue : input.issues) {
    json.key(issue.id);
    json.integer(issue.count);
  }
  json.end_object();
  if (!input.status.ok()) {
    json.key("error");
    json.text(input.status.message());
  }
  json.end_object();
}

}  // namespace

std::string conversion_json(const Conversion& conversion, const std::string& directory) {
  std::string text;
  wire::JsonEmitter json(text);
  json.begin_object();
  json.key("schema");
  json.text("tbtrace.convert/1");
  json.key("logdir");
  json.text(directory);
  json.key("inputs");
  json.begin_array();
  for (const ConvertedInput& input : conversion.inputs) add_input(json, input);
  json.end_array();
  json.key("passed_over");
  json.begin_array();
  for (const std::string& path : conversion.passed_over) json.text(path);
  json.end_array();
  json.end_object();
  return text + "\n";
}

}  // namespace tbtrace
