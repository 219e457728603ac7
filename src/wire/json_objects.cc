#include "wire/json_objects.h"

#include <utility>

#include <simdjson.h>

namespace tbtrace::wire {

std::vector<JsonObject> json_objects(std::string_view json, std::string_view key) {
  const simdjson::padded_string padded(json);
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  simdjson::ondemand::array array;
  if (parser.iterate(padded).get(document) != simdjson::SUCCESS) return {};
  if (document.get_array().get(array) != simdjson::SUCCESS) return {};
  std::vector<JsonObject> objects;
  for (auto element : array) {
    simdjson::ondemand::object object;
    if (element.get_object().get(object) != simdjson::SUCCESS) continue;
    std::string_view member;
    simdjson::ondemand::value value;
    if (object.find_field(key).get(value) == simdjson::SUCCESS) member = value.raw_json_token();
    std::string_view text;
    if (object.raw_json().get(text) != simdjson::SUCCESS) return {};
    objects.push_back({std::string(text), std::string(member)});
  }
  return objects;
}

std::map<std::string, std::string, std::less<>> json_scalars(std::string_view json) {
  const simdjson::padded_string padded(json);
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  simdjson::ondemand::object object;
  if (parser.iterate(padded).get(document) != simdjson::SUCCESS) return {};
  if (document.get_object().get(object) != simdjson::SUCCESS) return {};
  std::map<std::string, std::string, std::less<>> scalars;
  for (auto each : object) {
    simdjson::ondemand::field field;
    std::string_view key;
    if (std::move(each).get(field) != simdjson::SUCCESS) return {};
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) return {};
    std::string text(key);
    const std::string_view value = field.value().raw_json_token();
    if (value.starts_with('{') || value.starts_with('[')) {
      scalars.erase(text);
    } else {
      scalars.insert_or_assign(std::move(text), std::string(value));
    }
  }
  return scalars;
}

}  // namespace tbtrace::wire
