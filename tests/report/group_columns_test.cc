#include "report/group_columns.h"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

namespace tbtrace::report {
namespace {

TEST(GroupColumns, EachKeyHasOneNameAndIsFoundByIt) {
  GroupKeySet all;
  for (const GroupKey key : kGroupColumns) {
    EXPECT_FALSE(all.has(key));
    all.add(key);
    EXPECT_EQ(group_key_named(group_key_name(key)), key);
    EXPECT_TRUE(all.has(key));
  }
  EXPECT_FALSE(all.empty());
  EXPECT_TRUE(GroupKeySet().empty());
  EXPECT_EQ(group_key_named("colour"), std::nullopt);
}

TEST(GroupColumns, StreamsNameTheirDevice) {
  EXPECT_TRUE(has_group_column({GroupKey::stream}, GroupKey::device));
  EXPECT_TRUE(has_group_column({GroupKey::stream}, GroupKey::stream));
  EXPECT_FALSE(has_group_column({GroupKey::device}, GroupKey::stream));
  const std::vector<GroupColumn> columns =
      group_columns({GroupKey::shape, GroupKey::line, GroupKey::stream, GroupKey::step});
  std::vector<std::string_view> names;
  for (const GroupColumn& column : columns) names.push_back(column.name);
  EXPECT_EQ(names, (std::vector<std::string_view>{"input_shapes", "source_line", "device", "stream",
                                                  "stream_name", "step"}));
}

TEST(GroupColumns, WhatIsMissingHasNoValue) {
  const GroupValues none;
  for (const GroupKey key : kGroupColumns) {
    EXPECT_TRUE(std::holds_alternative<std::monostate>(group_cell(none, key)));
    EXPECT_EQ(group_text(none, key), "");
  }
  GroupValues some;
  some.step = 0;
  some.stack = {"model.py(1): forward", "train.py(2): main"};
  some.input_shapes = "[[2]]";
  some.module = "nn.Module: Linear_0";
  EXPECT_EQ(group_cell(some, GroupKey::step), Cell(std::int64_t{0}));
  EXPECT_EQ(group_text(some, GroupKey::step), "0");
  EXPECT_EQ(group_text(some, GroupKey::stack), "model.py(1): forward");
  EXPECT_EQ(group_cell(some, GroupKey::shape), Cell(Json{"[[2]]"}));
  EXPECT_EQ(group_text(some, GroupKey::module), "nn.Module: Linear_0");
}

}  // namespace
}  // namespace tbtrace::report
