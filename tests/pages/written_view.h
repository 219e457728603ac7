// A table or a tree of stacks as a view has it, parsed by another library.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "fixtures/json_tree.h"
#include "pages/stacks_text.h"
#include "pages/table_text.h"

namespace tbtrace::pages {

inline fixtures::JsonTree parsed(const std::string& json) {
  std::optional<fixtures::JsonTree> tree = fixtures::parse_json_tree(json);
  EXPECT_TRUE(tree) << json;
  return tree ? *std::move(tree) : fixtures::JsonTree();
}

template <typename Content>
fixtures::JsonTree written(const Content& content, const ViewLimits& limits = {}) {
  std::string text;
  wire::JsonEmitter json(text);
  if constexpr (std::is_same_v<Content, TableContent>) {
    emit_table(json, content, limits);
  } else {
    emit_stacks(json, content, limits);
  }
  return parsed(text);
}

/// The values of a member that is a list, separated by blanks; null is `-`.
inline std::string list_of(const fixtures::JsonTree& tree, std::string_view key) {
  std::string text;
  const fixtures::JsonTree* const list = tree.find(key);
  if (list == nullptr) return "no list";
  for (const fixtures::JsonTree& item : list->items) {
    text += text.empty() ? "" : " ";
    text += item.kind == fixtures::JsonTree::Kind::null ? "-" : item.text;
  }
  return text;
}

/// The text of a member; `-` for null.
inline std::string member(const fixtures::JsonTree& tree, std::string_view key) {
  const fixtures::JsonTree* const found = tree.find(key);
  return found == nullptr ? "-" : found->text;
}

}  // namespace tbtrace::pages
