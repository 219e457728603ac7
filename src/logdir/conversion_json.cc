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

void add_file(wire::JsonEmitter& json, const LogFile& file) {
  json.begin_object();
  json.key("path");
  json.text(file.path);
  json.key("worker");
  json.text(file.worker);
  json.key("span_ns");
  json.integer(file.span);
  json.key("written");
  json.boolean(file.written);
  json.key("size_bytes");
  json.integer(file.bytes);
  json.key("changes");
  json.begin_object();
  for (const auto& [id, count] : file.changes) {
    json.key(id);
    json.integer(count);
  }
  json.end_object();
  json.end_object();
}

void add_input(wire::JsonEmitter& json, const ConvertedInput& input) {
  json.new_line();
  json.begin_object();
  json.key("input");
  json.text(input.input);
  json.key("state");
  json.text(state_name(input.state));
  json.key("run");
  json.text(input.run);
  json.key("ranges");
  json.integer(input.ranges);
  json.key("files");
  json.begin_array();
  for (const LogFile& file : input.files) add_file(json, file);
  json.end_array();
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

std::string conversion_json(const Conversion& conversion) {
  std::string text;
  wire::JsonEmitter json(text);
  json.begin_object();
  json.key("schema");
  json.text("tbtrace.convert/1");
  json.key("logdir");
  json.text(conversion.directory);
  json.key("inputs");
  json.begin_array();
  for (const ConvertedInput& input : conversion.inputs) add_input(json, input);
  json.end_array();
  json.key("passed_over");
  json.begin_array();
  for (const std::string& path : conversion.passed_over) json.text(path);
  json.end_array();
  json.key("failed_runs");
  json.begin_array();
  for (const auto& [run, status] : conversion.failed_runs) {
    json.begin_object();
    json.key("run");
    json.text(run);
    json.key("error");
    json.text(status.message());
    json.end_object();
  }
  json.end_array();
  json.key("leftovers");
  json.begin_object();
  json.key("directory");
  json.text(conversion.leftovers.directory);
  json.key("files");
  json.integer(conversion.leftovers.files);
  json.key("size_bytes");
  json.integer(conversion.leftovers.bytes);
  json.end_object();
  json.end_object();
  return text + "\n";
}

}  // namespace tbtrace
