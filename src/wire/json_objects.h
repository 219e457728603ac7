// Lists of objects in JSON, taken apart with simdjson.
// Pure function; results own their texts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tbtrace::wire {

struct JsonObject {
  std::string text;
  std::string member;  ///< the text of the value that was asked for; empty if there is none
};

/// The objects among the elements of an array, each with the value of its first member `key`.
/// Nothing if the text is not an array. `json` is what append_strict_json() wrote without blanks.
std::vector<JsonObject> json_objects(std::string_view json, std::string_view key);

}  // namespace tbtrace::wire
