#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/report.h>

#include "fixtures/random_rounds.h"

namespace tbtrace {
namespace {

TEST(StackTree, BeginsWithARootThatWeighsNothing) {
  const StackTree stacks("bytes");
  EXPECT_EQ(stacks.unit(), "bytes");
  EXPECT_EQ(stacks.size(), 1u);
  EXPECT_EQ(stacks.total(), 0);
  EXPECT_EQ(stacks.self(StackTree::kRoot), 0);
  EXPECT_EQ(stacks.frame(StackTree::kRoot), "");
}

TEST(StackTree, HasOneNodeForAFrameUnderAParent) {
  StackTree stacks("ns");
  const std::uint32_t a = stacks.frame_number("a");
  const std::uint32_t b = stacks.frame_number("b");
  EXPECT_EQ(stacks.frame_number("a"), a);
  const StackTree::Node outer = stacks.child(StackTree::kRoot, a);
  EXPECT_EQ(stacks.child(StackTree::kRoot, a), outer);
  const StackTree::Node inner = stacks.child(outer, b);
  EXPECT_NE(stacks.child(StackTree::kRoot, b), inner) << "another parent, another node";
  const StackTree::Node recursive = stacks.child(outer, a);
  EXPECT_NE(recursive, outer);
  EXPECT_EQ(stacks.parent(recursive), outer);
  EXPECT_EQ(stacks.frame(recursive), "a");
  EXPECT_EQ(stacks.size(), 5u);
}

TEST(StackTree, MayHaveAFrameWithoutAName) {
  StackTree stacks("ns");
  const StackTree::Node node = stacks.child(StackTree::kRoot, stacks.frame_number(""));
  EXPECT_NE(node, StackTree::kRoot);
  EXPECT_EQ(stacks.frame(node), "");
}

TEST(StackTree, AddsUpWhatItIsGiven) {
  StackTree stacks("ns");
  const StackTree::Node node = stacks.child(StackTree::kRoot, stacks.frame_number("a"));
  stacks.add(node, 3);
  stacks.add(node, 0);
  stacks.add(node, 4);
  stacks.add(StackTree::kRoot, 5);
  EXPECT_EQ(stacks.self(node), 7);
  EXPECT_EQ(stacks.total(), 12);
}

/// Against a map from whole paths to their weights.
TEST(StackTree, HoldsThePathsThatItWasGiven) {
  std::mt19937 random(1);
  for (int round = 0; round < fixtures::random_rounds(200); ++round) {
    StackTree stacks("ns");
    std::map<std::vector<std::string>, std::int64_t> expected;
    for (int path = 0; path < 40; ++path) {
      std::vector<std::string> frames;
      StackTree::Node node = StackTree::kRoot;
      for (unsigned depth = 1 + random() % 5; depth > 0; --depth) {
        frames.push_back(std::string(1, static_cast<char>('a' + random() % 3)));
        node = stacks.child(node, stacks.frame_number(frames.back()));
      }
      const std::int64_t weight = random() % 9;
      stacks.add(node, weight);
      expected[frames] += weight;
    }
    std::map<std::vector<std::string>, std::int64_t> found;
    std::int64_t total = 0;
    for (StackTree::Node node = 1; node < stacks.size(); ++node) {
      ASSERT_LT(stacks.parent(node), node) << "a parent comes first";
      std::vector<std::string> frames;
      for (StackTree::Node up = node; up != StackTree::kRoot; up = stacks.parent(up)) {
        frames.insert(frames.begin(), std::string(stacks.frame(up)));
      }
      total += stacks.self(node);
      ASSERT_TRUE(found.emplace(frames, stacks.self(node)).second) << "a path has one node";
      if (!expected.contains(frames)) {
        ASSERT_EQ(stacks.self(node), 0);
      }
    }
    for (const auto& [frames, weight] : expected) ASSERT_EQ(found.at(frames), weight);
    ASSERT_EQ(stacks.total(), total);
  }
}

TEST(StackTree, AddedChildrenAreNodesOfTheirOwn) {
  StackTree stacks("ns");
  const std::uint32_t frame = stacks.frame_number("f");
  const StackTree::Node joined = stacks.child(StackTree::kRoot, frame);
  const StackTree::Node added = stacks.add_child(StackTree::kRoot, frame);
  EXPECT_NE(stacks.add_child(StackTree::kRoot, frame), added);
  EXPECT_EQ(stacks.child(StackTree::kRoot, frame), joined);
  EXPECT_EQ(stacks.frame(added), "f");
  EXPECT_EQ(stacks.parent(added), StackTree::kRoot);
  stacks.add(added, 3);
  EXPECT_EQ(stacks.self(joined), 0);
  EXPECT_EQ(stacks.total(), 3);
}

}  // namespace
}  // namespace tbtrace
