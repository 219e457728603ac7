#include "analyses/stacks/merged_recursion.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "analyses/stacks/stack_paths.h"
#include "fixtures/random_rounds.h"
#include "fixtures/stack_path.h"

namespace tbtrace::analyses {
namespace {

using fixtures::add_path;

TEST(MergedRecursion, AnInnerCallBelongsToTheOuterOne) {
  StackTree stacks("ns");
  add_path(stacks, {"main", "f", "f", "f"}, 1);
  add_path(stacks, {"main", "f", "g", "f", "h"}, 20);
  add_path(stacks, {"main", "f", "g"}, 300);
  add_path(stacks, {"main", "g"}, 4000);
  const StackPaths expected = {{{"main", "f"}, 1},
                               {{"main", "f", "h"}, 20},
                               {{"main", "f", "g"}, 300},
                               {{"main", "g"}, 4000}};
  EXPECT_EQ(paths_of(merged_recursion(stacks, true)), expected);
}

TEST(MergedRecursion, NodesStayApartUnlessTheyAreJoined) {
  StackTree stacks("ns");
  const std::uint32_t f = stacks.frame_number("f");
  for (const std::int64_t weight : {1, 2}) {
    const StackTree::Node outer = stacks.add_child(StackTree::kRoot, f);
    stacks.add(stacks.add_child(outer, f), weight);
  }
  const StackTree apart = merged_recursion(stacks, false);
  ASSERT_EQ(apart.size(), 3u);
  EXPECT_EQ(apart.self(1), 1);
  EXPECT_EQ(apart.self(2), 2);
  EXPECT_EQ(merged_recursion(stacks, true).size(), 2u);
}

TEST(MergedRecursion, OfNoStacks) {
  StackTree stacks("bytes");
  stacks.add(StackTree::kRoot, 7);
  const StackTree merged = merged_recursion(stacks, true);
  EXPECT_EQ(merged.unit(), "bytes");
  EXPECT_EQ(merged.size(), 1u);
  EXPECT_EQ(merged.total(), 7);
}

TEST(MergedRecursion, MatchesItsDefinitionOnRandomTrees) {
  int recursive = 0;
  for (unsigned seed = 0; seed < fixtures::random_rounds(2000u); ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    StackTree stacks("ns");
    std::vector<StackTree::Node> nodes = {StackTree::kRoot};
    const bool join = random() % 2 == 0;
    for (int count = 0; count < 40; ++count) {
      const StackTree::Node below = nodes[random() % nodes.size()];
      const std::uint32_t frame = stacks.frame_number(std::string(1, 'a' + random() % 5));
      nodes.push_back(join ? stacks.child(below, frame) : stacks.add_child(below, frame));
      stacks.add(nodes.back(), random() % 4);
    }
    const StackTree merged = merged_recursion(stacks, join);
    ASSERT_EQ(paths_of(merged), changed(paths_of(stacks), without_recursion));
    ASSERT_EQ(merged.total(), stacks.total());
    if (paths_of(merged) != paths_of(stacks)) ++recursive;
  }
  EXPECT_GT(recursive, fixtures::random_rounds(1000));
}

TEST(MergedRecursion, OfDeepStacks) {
  constexpr int kDepth = 100'000;
  StackTree stacks("ns");
  StackTree::Node same = StackTree::kRoot;
  StackTree::Node different = StackTree::kRoot;
  for (int depth = 0; depth < kDepth; ++depth) {
    same = stacks.child(same, stacks.frame_number("recursion"));
    different = stacks.child(different, stacks.frame_number("f" + std::to_string(depth)));
    stacks.add(same, 1);
    stacks.add(different, 1);
  }
  const StackTree merged = merged_recursion(stacks, true);
  EXPECT_EQ(merged.size(), kDepth + 2u);
  EXPECT_EQ(merged.total(), 2 * kDepth);
}

}  // namespace
}  // namespace tbtrace::analyses
