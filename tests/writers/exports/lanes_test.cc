#include "writers/exports/lanes.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tbtrace::writers {
namespace {

using Ranges = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// `0( 0) 1(`: on which lanes ranges begin and end.
std::string lanes_of(const Ranges& ranges) {
  Lanes lanes;
  std::string text;
  const auto end = [&](std::size_t lane, std::int64_t time) {
    text += std::to_string(lane) + ")" + std::to_string(time) + " ";
  };
  for (const auto& [from, to] : ranges) {
    const std::size_t lane = lanes.place(from, to, end);
    text += std::to_string(lane) + "(" + std::to_string(from) + " ";
  }
  lanes.finish(end);
  return text;
}

TEST(LanesTest, KeepRangesThatNestOnOneLane) {
  EXPECT_EQ(lanes_of({{0, 10}, {1, 4}, {4, 10}, {4, 5}, {10, 12}}),
            "0(0 0(1 0)4 0(4 0(4 0)5 0)10 0)10 0(10 0)12 ");
}

TEST(LanesTest, MoveARangeThatCrossesAnother) {
  EXPECT_EQ(lanes_of({{0, 10}, {5, 15}, {6, 9}, {12, 20}}), "0(0 1(5 0(6 0)9 0)10 0(12 0)20 1)15 ");
}

TEST(LanesTest, KeepRangesWithoutALength) {
  EXPECT_EQ(lanes_of({{0, 0}, {0, 0}, {3, 5}, {5, 5}}), "0(0 0)0 0(0 0)0 0(3 0)5 0(5 0)5 ");
}

// On every lane each range lies inside those that are open.
TEST(LanesTest, NestWhateverTheRangesAre) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Lanes lanes;
    std::vector<std::vector<std::int64_t>> open;
    std::int64_t at = 0;
    const auto end = [&](std::size_t lane, std::int64_t time) {
      ASSERT_EQ(open[lane].back(), time);
      open[lane].pop_back();
    };
    for (int range = 0; range < 50; ++range) {
      at += static_cast<std::int64_t>(random() % 4);
      const std::int64_t to = at + static_cast<std::int64_t>(random() % 20);
      const std::size_t lane = lanes.place(at, to, end);
      if (lane >= open.size()) open.resize(lane + 1);
      if (!open[lane].empty()) {
        EXPECT_GE(open[lane].back(), to);
        EXPECT_GT(open[lane].back(), at);
      }
      open[lane].push_back(to);
    }
    lanes.finish(end);
    for (const auto& lane : open) EXPECT_TRUE(lane.empty());
  }
}

}  // namespace
}  // namespace tbtrace::writers
