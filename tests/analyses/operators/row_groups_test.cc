#include "analyses/operators/row_groups.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

namespace tbtrace::analyses {
namespace {

TEST(RowGroups, StartARowWithItsNameAndKind) {
  RowGroups groups;
  bool added = false;
  const std::size_t row = groups.find(
      {.name = groups.number("gemm"), .device = DeviceType::xpu, .annotation = true}, added);
  EXPECT_TRUE(added);
  EXPECT_EQ(groups[row].key, "gemm");
  EXPECT_EQ(groups[row].device_type, DeviceType::xpu);
  EXPECT_TRUE(groups[row].is_user_annotation);
  EXPECT_EQ(groups[row].count, 0);
}

TEST(RowGroups, NumberEqualTextsEqually) {
  RowGroups groups;
  EXPECT_EQ(groups.number("a"), groups.number("a"));
  EXPECT_NE(groups.number("a"), groups.number("b"));
  EXPECT_EQ(groups.number(""), 0u);
}

/// Keys that differ in each of their parts, and often in one only, against a map.
TEST(RowGroups, TellKeysApartByEveryPart) {
  std::mt19937 random(7);
  RowGroups groups;
  std::map<std::tuple<int, int, int, int, int, bool>, std::size_t> expected;
  for (int round = 0; round < 20'000; ++round) {
    int part[5];
    for (int& value : part) value = static_cast<int>(random() % 3);
    const bool annotation = random() % 2 == 0;
    const auto text = [&](int kind) {
      // A new text now and then, so that names come after rows.
      return groups.number(std::string(1, static_cast<char>('a' + kind)) +
                           std::to_string(part[kind]) + (round > 10'000 ? "late" : ""));
    };
    const auto device = static_cast<DeviceType>(part[4]);
    bool added = false;
    const std::size_t row =
        groups.find({text(0), text(1), text(2), text(3), device, annotation}, added);
    const int late = round > 10'000 ? 3 : 0;
    const auto [known, is_new] = expected.try_emplace(
        {part[0] + late, part[1], part[2], part[3], part[4], annotation}, expected.size());
    ASSERT_EQ(row, known->second);
    ASSERT_EQ(added, is_new);
  }
  EXPECT_EQ(groups.rows().size(), expected.size());
  EXPECT_EQ(expected.size(), 972u) << "all there are: 2 * 3^5 * 2";
}

}  // namespace
}  // namespace tbtrace::analyses
