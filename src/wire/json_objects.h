// Splits JSON lists of objects, using simdjson. Results own their texts.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tbtrace::wire {

struct JsonObject {
  std::string text;
  std::string member;  ///< the text of the requested value; empty if there is none
};

/// The members of an object whose values are strings, numbers, `true`, `false` or `null`, as JSON;
/// of several with the same key the last one. Numbers of any size are values. Empty if the text is
/// not an object. `json` must come from append_strict_json() without blanks.
std::map<std::string, std::string, std::less<>> json_scalars(std::string_view json);

/// The objects among the elements of an array, each with the value of its first member `key`. Empty
/// if the text is not an array. `json` must come from append_strict_json() without blanks.
std::vector<JsonObject> json_objects(std::string_view json, std::string_view key);

}  // namespace tbtrace::wire
