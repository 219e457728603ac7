// wire/json_text.h: what is escaped is JSON and comes back; what a parser reads, we read the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <simdjson.h>

#include "base/utf8.h"
#include "fuzz/require.h"
#include "wire/json_text.h"

namespace {

using namespace tbtrace;

/// What the library makes of a JSON string, if it takes it for one.
bool parsed(const std::string& json, std::string_view& text) {
  static simdjson::dom::parser parser;
  return parser.parse(json).get(text) == simdjson::SUCCESS;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  std::string json;
  wire::append_html_json_string(json, input);
  std::string_view text;
  fuzz::require(parsed(json, text), "what is written is JSON");
  fuzz::require(text == to_utf8(input), "a parser reads what was written");
  fuzz::require(json.find('<') == std::string::npos, "what is written may stand in HTML");
  std::string back;
  const wire::Escapes written =
      wire::append_unescaped(back, std::string_view(json).substr(1, json.size() - 2));
  fuzz::require(written == wire::Escapes::valid && back == to_utf8(input),
                "what is written comes back");

  std::string read;
  const wire::Escapes escapes = wire::append_unescaped(read, input);
  fuzz::require(read.size() <= size, "escapes are longer than what they mean");
  json = '"' + std::string(input) + '"';
  if (!parsed(json, text)) return 0;
  fuzz::require(escapes == wire::Escapes::valid, "all escapes of JSON are known");
  fuzz::require(read == text, "escapes mean what they mean to a parser");
  return 0;
}
