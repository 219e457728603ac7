#include "wire/json_values.h"

#include <simdjson.h>

#include "base/decimal.h"

namespace tbtrace::wire {

std::optional<std::int64_t> json_integer(std::string_view json, std::string_view key) {
  if (const std::optional<std::string> object = json_text(json)) return json_integer(*object, key);
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  simdjson::dom::element value;
  if (parser.parse(json.data(), json.size()).get(document) != simdjson::SUCCESS) return {};
  if (document.at_key(key).get(value) != simdjson::SUCCESS) return {};
  std::string_view text;
  if (value.get_string().get(text) == simdjson::SUCCESS) return parse_integer(text);
  std::int64_t number = 0;
  if (value.get_int64().get(number) == simdjson::SUCCESS) return number;
  return {};
}

std::optional<std::string> json_text(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  std::string_view text;
  if (parser.parse(json.data(), json.size()).get(document) != simdjson::SUCCESS) return {};
  if (document.get_string().get(text) != simdjson::SUCCESS) return {};
  return std::string(text);
}

}  // namespace tbtrace::wire
