#include "wire/json_tree.h"

#include <algorithm>

#include <simdjson.h>

namespace tbtrace::wire {
namespace {

constexpr int kMostLevels = 64;

bool convert(simdjson::dom::element element, int depth, JsonTree& tree) {
  using Type = simdjson::dom::element_type;
  if (depth > kMostLevels) return false;
  switch (element.type()) {
    case Type::ARRAY:
      tree.kind = JsonTree::Kind::list;
      for (const simdjson::dom::element item : simdjson::dom::array(element)) {
        if (!convert(item, depth + 1, tree.items.emplace_back())) return false;
      }
      break;
    case Type::OBJECT:
      tree.kind = JsonTree::Kind::object;
      for (const auto& [key, value] : simdjson::dom::object(element)) {
        JsonTree& member = tree.members.emplace_back(std::string(key), JsonTree()).second;
        if (!convert(value, depth + 1, member)) return false;
      }
      break;
    case Type::INT64:
      tree.kind = JsonTree::Kind::integer;
      tree.integer = std::int64_t(element);
      tree.real = static_cast<double>(tree.integer);
      break;
    case Type::UINT64:
      tree.kind = JsonTree::Kind::real;
      tree.real = static_cast<double>(std::uint64_t(element));
      break;
    case Type::DOUBLE:
      tree.kind = JsonTree::Kind::real;
      tree.real = double(element);
      break;
    case Type::STRING:
      tree.kind = JsonTree::Kind::text;
      tree.text = std::string_view(element);
      break;
    case Type::BOOL:
      tree.kind = JsonTree::Kind::flag;
      tree.flag = bool(element);
      break;
    case Type::NULL_VALUE:
      break;
  }
  return true;
}

}  // namespace

const JsonTree* JsonTree::find(std::string_view name) const {
  const auto found = std::ranges::find(members, name, &std::pair<std::string, JsonTree>::first);
  return found == members.end() ? nullptr : &found->second;
}

const JsonTree* JsonTree::find(std::string_view name, Kind of_kind) const {
  const JsonTree* const found = find(name);
  return found != nullptr && found->kind == of_kind ? found : nullptr;
}

std::optional<JsonTree> parse_json_tree(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  if (parser.parse(json.data(), json.size()).get(document) != simdjson::SUCCESS) return {};
  JsonTree tree;
  if (!convert(document, 0, tree)) return {};
  return tree;
}

}  // namespace tbtrace::wire
