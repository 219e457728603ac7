// Splits JSON lists of objects, using simdjson. Results own their texts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tbtrace::wire {

struct JsonObject {
  std::string text;
  std::string member;  ///< the text of the requested value; empty if there is none
};

/// The objects among the elements of an array, each with the value of its first member `key`. Empty
/// if the text is not an array. `json` must come from append_strict_json() without blanks.
std::vector<JsonObject> json_objects(std::string_view json, std::string_view key);

}  // namespace tbtrace::wire
