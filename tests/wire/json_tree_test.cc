#include "wire/json_tree.h"

#include <string>

#include <gtest/gtest.h>

namespace tbtrace::wire {
namespace {

using Kind = JsonTree::Kind;

TEST(WireJsonTree, HasEveryKindOfValue) {
  const auto tree = parse_json_tree(
      R"({"a": [null, true, -3, 0.5, 18446744073709551615, "x\u00e9"], "b": {"c": 1}, "b": 2})");
  ASSERT_TRUE(tree);
  const std::vector<JsonTree>& items = tree->find("a", Kind::list)->items;
  EXPECT_EQ(items[0].kind, Kind::null);
  EXPECT_TRUE(items[1].flag);
  EXPECT_EQ(items[2].integer, -3);
  EXPECT_EQ(items[2].real, -3.0);
  EXPECT_EQ(items[3].real, 0.5);
  EXPECT_EQ(items[4].kind, Kind::real);
  EXPECT_EQ(items[5].text, "x\u00e9");
  EXPECT_EQ(tree->find("b", Kind::object)->find("c")->integer, 1);
  EXPECT_EQ(tree->find("a", Kind::text), nullptr);
  EXPECT_EQ(tree->find("none"), nullptr);
}

TEST(WireJsonTree, RefusesWhatIsNoJsonOrTooDeep) {
  EXPECT_FALSE(parse_json_tree(""));
  EXPECT_FALSE(parse_json_tree("{"));
  EXPECT_TRUE(parse_json_tree(std::string(60, '[') + std::string(60, ']')));
  EXPECT_FALSE(parse_json_tree(std::string(100, '[') + std::string(100, ']')));
}

}  // namespace
}  // namespace tbtrace::wire
