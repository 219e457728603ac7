#include "writers/flame/layout.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/report.h>

#include "fixtures/stack_path.h"

namespace tbtrace::writers {
namespace {

using fixtures::add_path;
using Row = std::tuple<std::string, std::uint32_t, std::int64_t, std::int64_t, std::int64_t>;

/// frame, depth, start, total, self
std::vector<Row> rows(const FlameLayout& layout) {
  std::vector<Row> rows;
  for (const FlameBox& box : layout.boxes) {
    rows.emplace_back(std::string(box.frame), box.depth, box.start, box.total, box.self);
  }
  return rows;
}

TEST(FlameGraphLayoutTest, PutsSortedChildrenOnTheirParentFromTheLeft) {
  StackTree stacks("ns");
  add_path(stacks, {"main", "b"}, 30);
  add_path(stacks, {"main"}, 5);
  add_path(stacks, {"main", "a", "x"}, 20);
  add_path(stacks, {"Other"}, 45);
  const FlameLayout layout = flame_graph_layout(stacks);
  const std::vector<Row> expected = {
      {"all", 0, 0, 100, 0}, {"Other", 1, 0, 45, 45}, {"main", 1, 45, 55, 5},
      {"a", 2, 45, 20, 0},   {"x", 3, 45, 20, 20},    {"b", 2, 65, 30, 30},
  };
  EXPECT_EQ(rows(layout), expected);
  EXPECT_EQ(layout.total, 100);
  EXPECT_EQ(layout.levels, 4u);
  EXPECT_EQ(layout.too_narrow, 0u);
}

TEST(FlameGraphLayoutTest, BoxesStayOnTheirParentWhereSumsAreBounded) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  StackTree stacks("ns");
  add_path(stacks, {"a", "x"}, kMost - 10);
  add_path(stacks, {"a", "y"}, kMost - 10);
  add_path(stacks, {"a"}, 40);
  add_path(stacks, {"b"}, kMost);
  const FlameLayout layout = flame_graph_layout(stacks, {.narrowest_px = 0});
  const std::vector<Row> expected = {{"all", 0, 0, kMost, 0},
                                     {"a", 1, 0, kMost, 40},
                                     {"x", 2, 0, kMost - 10, kMost - 10},
                                     {"y", 2, kMost - 10, 10, 10}};
  EXPECT_EQ(rows(layout), expected);
  EXPECT_EQ(layout.total, kMost);
  EXPECT_EQ(layout.too_narrow, 1u) << "there is no room for b";
}

TEST(FlameGraphLayoutTest, DoesNotDependOnTheOrderOfStacks) {
  const std::vector<std::vector<std::string_view>> paths = {
      {"a"}, {"a", "b"}, {"a", "\xff"}, {"a", "c", "d"}, {"B"}, {"z", "a"}};
  StackTree forwards("ns");
  for (const auto& path : paths) add_path(forwards, path, 10);
  StackTree backwards("ns");
  for (const auto& path : std::vector(paths.rbegin(), paths.rend())) add_path(backwards, path, 10);
  EXPECT_EQ(rows(flame_graph_layout(forwards)), rows(flame_graph_layout(backwards)));
}

TEST(FlameGraphLayoutTest, SortsByUnsignedBytes) {
  StackTree stacks("ns");
  for (const std::string_view frame : {"\xc3\xa9", "z", "A", "a"}) add_path(stacks, {frame}, 1);
  const FlameLayout layout = flame_graph_layout(stacks);
  ASSERT_EQ(layout.boxes.size(), 5u);
  EXPECT_EQ(layout.boxes[1].frame, "A");
  EXPECT_EQ(layout.boxes[4].frame, "\xc3\xa9");
}

TEST(FlameGraphLayoutTest, SortsByWeightOrKeepsTheOrderOfTheTree) {
  StackTree stacks("ns");
  const std::uint32_t b = stacks.frame_number("b");
  stacks.add(stacks.add_child(StackTree::kRoot, b), 10);
  add_path(stacks, {"c"}, 40);
  add_path(stacks, {"a"}, 10);
  stacks.add(stacks.add_child(StackTree::kRoot, b), 20);
  const auto names = [&](FrameOrder order) {
    std::string text;
    for (const FlameBox& box : flame_graph_layout(stacks, {.order = order}).boxes) {
      text.append(box.frame).append(" ").append(std::to_string(box.total)).append(" ");
    }
    return text;
  };
  EXPECT_EQ(names(FrameOrder::weight), "all 80 c 40 b 20 a 10 b 10 ");
  EXPECT_EQ(names(FrameOrder::time), "all 80 b 10 c 40 a 10 b 20 ");
  EXPECT_EQ(names(FrameOrder::name), "all 80 a 10 b 10 b 20 c 40 ");
}

TEST(FlameGraphLayoutTest, KeepsTheWidestIfThereAreTooMany) {
  StackTree stacks("ns");
  add_path(stacks, {"a", "x"}, 5);
  add_path(stacks, {"a", "y"}, 5);
  add_path(stacks, {"b"}, 5);
  add_path(stacks, {"c"}, 4);
  const auto boxes = [&](std::size_t most) {
    const FlameLayout layout = flame_graph_layout(stacks, {.narrowest_px = 0, .most_boxes = most});
    EXPECT_EQ(layout.boxes.size() + layout.too_narrow, 6u);
    std::string text;
    for (const FlameBox& box : layout.boxes) text.append(box.frame).append(" ");
    return text;
  };
  EXPECT_EQ(boxes(6), "all a x y b c ");
  EXPECT_EQ(boxes(5), "all a x y b ");
  EXPECT_EQ(boxes(4), "all a x y ");
  EXPECT_EQ(boxes(3), "all a x ");
  EXPECT_EQ(boxes(1), "all ");
}

TEST(FlameGraphLayoutTest, TheLargestWeightsMatchSorting) {
  std::uint32_t state = 7;
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::int64_t> weights(20);
    for (std::int64_t& weight : weights) {
      state = state * 1664525u + 1013904223u;
      weight = (state >> 16) % 12;
    }
    const std::size_t number = 1 + state % 25;
    const std::int64_t lowest = 1 + round % 3;
    std::vector<std::size_t> sorted(weights.size());
    std::iota(sorted.begin(), sorted.end(), std::size_t{0});
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
    std::set<std::size_t> expected;
    for (const std::size_t place : sorted) {
      if (expected.size() < number && weights[place] >= lowest) expected.insert(place);
    }
    std::set<std::size_t> found;
    const LargestWeights largest = largest_weights(weights, number, lowest);
    for (std::size_t place = 0; place < weights.size(); ++place) {
      if (largest.contains(weights[place], place)) found.insert(place);
    }
    ASSERT_EQ(found, expected) << round;
  }
}

TEST(FlameGraphLayoutTest, CountsWhatIsTooNarrow) {
  StackTree stacks("ns");
  add_path(stacks, {"wide"}, 99'890);
  add_path(stacks, {"at the limit"}, 100);
  add_path(stacks, {"narrow"}, 9);
  add_path(stacks, {"narrow", "on it"}, 1);
  add_path(stacks, {"without weight"}, 0);
  const FlameLayout layout = flame_graph_layout(stacks, {.width_px = 100, .narrowest_px = 0.1});
  const std::vector<Row> expected = {{"all", 0, 0, 100'000, 0},
                                     {"at the limit", 1, 0, 100, 100},
                                     {"wide", 1, 100, 99'890, 99'890}};
  EXPECT_EQ(rows(layout), expected);
  EXPECT_EQ(layout.too_narrow, 2u);
  EXPECT_EQ(layout.levels, 2u);
}

TEST(FlameGraphLayoutTest, WiderPicturesShowMore) {
  StackTree stacks("ns");
  add_path(stacks, {"wide"}, 99'999);
  add_path(stacks, {"narrow"}, 1);
  EXPECT_EQ(flame_graph_layout(stacks, {.width_px = 1000, .narrowest_px = 0.1}).boxes.size(), 2u);
  EXPECT_EQ(flame_graph_layout(stacks, {.width_px = 10'000, .narrowest_px = 0.1}).boxes.size(), 3u);
  EXPECT_EQ(flame_graph_layout(stacks, {.width_px = 1, .narrowest_px = 0}).boxes.size(), 3u);
  EXPECT_EQ(flame_graph_layout(stacks, {.width_px = 1, .narrowest_px = 1}).boxes.size(), 1u);
}

TEST(FlameGraphLayoutTest, NothingToShow) {
  StackTree stacks("bytes");
  EXPECT_TRUE(flame_graph_layout(stacks).boxes.empty());
  add_path(stacks, {"a", "b"}, 0);
  const FlameLayout layout = flame_graph_layout(stacks);
  EXPECT_TRUE(layout.boxes.empty());
  EXPECT_EQ(layout.total, 0);
  EXPECT_EQ(layout.too_narrow, 0u);
}

TEST(FlameGraphLayoutTest, WeightOfTheRootAlone) {
  StackTree stacks("bytes");
  stacks.add(StackTree::kRoot, 7);
  EXPECT_EQ(rows(flame_graph_layout(stacks)), (std::vector<Row>{{"all", 0, 0, 7, 7}}));
}

TEST(FlameGraphLayoutTest, LargestWeights) {
  StackTree stacks("ns");
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  add_path(stacks, {"a"}, kLargest - 1);
  add_path(stacks, {"b"}, 1);
  const FlameLayout layout = flame_graph_layout(stacks);
  ASSERT_EQ(layout.boxes.size(), 2u);
  EXPECT_EQ(layout.boxes[1].total, kLargest - 1);
  EXPECT_EQ(layout.too_narrow, 1u);
}

TEST(FlameGraphLayoutTest, DeepTrees) {
  constexpr std::uint32_t kDepth = 100'000;
  StackTree stacks("ns");
  StackTree::Node node = StackTree::kRoot;
  const std::uint32_t frame = stacks.frame_number("recursion");
  for (std::uint32_t depth = 0; depth < kDepth; ++depth) {
    node = stacks.child(node, frame);
    stacks.add(node, 1);
  }
  const FlameLayout layout =
      flame_graph_layout(stacks, {.width_px = 2.0 * kDepth, .narrowest_px = 0.1});
  ASSERT_EQ(layout.boxes.size(), kDepth + 1u);
  EXPECT_EQ(layout.levels, kDepth + 1);
  EXPECT_EQ(layout.boxes.back().depth, kDepth);
  EXPECT_EQ(layout.boxes.back().total, 1);
}

TEST(FlameGraphLayoutTest, BoxesNestAndDoNotOverlap) {
  StackTree stacks("ns");
  std::uint32_t state = 12345;
  const auto next = [&](std::uint32_t limit) {
    state = state * 1664525u + 1013904223u;
    return (state >> 16) % limit;
  };
  std::vector<StackTree::Node> nodes = {StackTree::kRoot};
  for (int step = 0; step < 5000; ++step) {
    const StackTree::Node parent = nodes[next(static_cast<std::uint32_t>(nodes.size()))];
    const std::string frame = "f" + std::to_string(next(50));
    nodes.push_back(stacks.child(parent, stacks.frame_number(frame)));
    stacks.add(nodes.back(), next(1000));
  }
  const FlameLayout layout = flame_graph_layout(stacks);
  std::vector<FlameBox> path;
  std::vector<std::int64_t> row_ends(layout.levels, 0);
  for (const FlameBox& box : layout.boxes) {
    path.resize(box.depth);
    if (!path.empty()) {
      EXPECT_GE(box.start, path.back().start);
      EXPECT_LE(box.start + box.total, path.back().start + path.back().total - path.back().self);
    }
    EXPECT_GE(box.start, row_ends[box.depth]);
    row_ends[box.depth] = box.start + box.total;
    path.push_back(box);
  }
}

}  // namespace
}  // namespace tbtrace::writers
