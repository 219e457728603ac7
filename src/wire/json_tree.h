// Small JSON texts as a tree of values, read by simdjson. Results own their texts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tbtrace::wire {

struct JsonTree {
  enum class Kind : std::uint8_t { null, flag, integer, real, text, list, object };

  Kind kind = Kind::null;
  bool flag = false;
  std::int64_t integer = 0;
  double real = 0;  ///< of integers too
  std::string text = {};
  std::vector<JsonTree> items = {};                            ///< of a list
  std::vector<std::pair<std::string, JsonTree>> members = {};  ///< of an object

  /// The first member of this name; nullptr if there is none, and of what is not an object.
  const JsonTree* find(std::string_view name) const;
  /// The same, if it is of this kind.
  const JsonTree* find(std::string_view name, Kind of_kind) const;
};

/// Nothing for invalid JSON, and for what is nested deeper than 64 levels.
std::optional<JsonTree> parse_json_tree(std::string_view json);

}  // namespace tbtrace::wire
