// Trees of stacks as columns: what is left out, and that no weight is lost.
#include "pages/stacks_text.h"

#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "fixtures/random_rounds.h"
#include "pages/written_view.h"

namespace tbtrace::pages {
namespace {

using fixtures::JsonTree;

StacksContent stacks(StackTree tree) {
  return {.name = "cpu", .title = "CPU time", .tree = std::move(tree)};
}

std::vector<std::int64_t> numbers(const JsonTree& tree, std::string_view key) {
  std::vector<std::int64_t> list;
  for (const JsonTree& item : tree.find(key)->items) list.push_back(std::stoll(item.text));
  return list;
}

TEST(StacksText, HasEachFrameUnderItsParent) {
  StackTree tree("ns");
  const auto main = tree.child(StackTree::kRoot, tree.frame_number("train.py(3): main"));
  tree.add(main, 5);
  tree.add(tree.child(main, tree.frame_number("aten::mm")), 20);
  tree.child(main, tree.frame_number("without weight"));
  const JsonTree written_tree = written(stacks(std::move(tree)));
  EXPECT_EQ(list_of(written_tree, "texts"), "train.py(3): main aten::mm");
  EXPECT_EQ(list_of(written_tree, "kinds"), "6 1 0");
  EXPECT_EQ(list_of(written_tree, "frame"), "0 1 2");
  EXPECT_EQ(list_of(written_tree, "parent"), "0 1 1");
  EXPECT_EQ(list_of(written_tree, "self"), "0 5 20");
  EXPECT_EQ(member(written_tree, "total"), "25");
  EXPECT_EQ(member(written_tree, "left_out"), "0");
}

TEST(StacksText, LeavesOutTheLightestAndKeepsAllWeight) {
  for (unsigned seed = 0; seed < fixtures::random_rounds(200u); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    StackTree tree("ns");
    std::vector<StackTree::Node> nodes = {StackTree::kRoot};
    for (int at = 0; at < 60; ++at) {
      const auto parent = nodes[random() % nodes.size()];
      nodes.push_back(tree.add_child(parent, tree.frame_number(std::to_string(random() % 9))));
      tree.add(nodes.back(), random() % 4 == 0 ? 0 : random() % 100);
    }
    const std::int64_t total = tree.total();
    const std::size_t limit = 1 + random() % 70;
    const JsonTree kept = written(stacks(std::move(tree)), {.frames = limit});
    const std::vector<std::int64_t> self = numbers(kept, "self");
    EXPECT_LE(self.size(), limit);
    EXPECT_EQ(std::accumulate(self.begin(), self.end(), std::int64_t{0}), total);
    const std::vector<std::int64_t> parents = numbers(kept, "parent");
    for (std::size_t at = 1; at < parents.size(); ++at) {
      EXPECT_GE(parents[at], 1);
      EXPECT_LE(parents[at], static_cast<std::int64_t>(at));
    }
  }
}

}  // namespace
}  // namespace tbtrace::pages
