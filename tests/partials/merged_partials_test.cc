// Merging: any order and any tree give the same bytes.
#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/partial.h>

#include "fixtures/random_rounds.h"
#include "random_traces.h"

namespace tbtrace::partials {
namespace {

std::vector<std::string> random_files(unsigned count, unsigned first) {
  std::vector<std::string> files;
  for (unsigned seed = first; seed < first + count; ++seed) {
    files.push_back(*partial_bytes(random_partial(seed)));
  }
  return files;
}

/// Merges the files two by two, at random, until one is left.
std::string merged_in_a_random_tree(std::vector<std::string> files, std::mt19937& random) {
  while (files.size() > 1) {
    std::swap(files[random() % files.size()], files.back());
    const Partial one = *parse_partial(files.back());
    files.pop_back();
    std::string& other = files[random() % files.size()];
    Partial sum = *parse_partial(other);
    EXPECT_TRUE(sum.merge(one).ok());
    other = *partial_bytes(sum);
  }
  return files.front();
}

TEST(MergedPartials, AnyTreeGivesTheSameBytes) {
  std::mt19937 random(3);
  const std::vector<std::string> files = random_files(64, 0);
  const std::string expected = merged_in_a_random_tree(files, random);
  for (int tree = 0; tree < fixtures::random_rounds(20); ++tree) {
    ASSERT_EQ(merged_in_a_random_tree(files, random), expected);
  }
}

TEST(MergedPartials, OfSmallSetsAreTheSameInAnyTree) {
  std::mt19937 random(5);
  for (unsigned round = 0; round < fixtures::random_rounds(150u); ++round) {
    SCOPED_TRACE(round);
    const std::vector<std::string> files = random_files(2 + round % 4, 7 * round);
    const std::string expected = merged_in_a_random_tree(files, random);
    ASSERT_EQ(merged_in_a_random_tree(files, random), expected);
  }
}

TEST(MergedPartials, WhatIsWrittenIsWhatWasInMemory) {
  std::mt19937 random(9);
  Partial in_memory = random_partial(20);
  std::vector<std::string> files = {*partial_bytes(in_memory)};
  for (unsigned seed = 21; seed < 30; ++seed) {
    const Partial other = random_partial(seed);
    ASSERT_TRUE(in_memory.merge(other).ok());
    files.push_back(*partial_bytes(other));
  }
  EXPECT_EQ(*partial_bytes(in_memory), merged_in_a_random_tree(files, random));
}

TEST(MergedPartials, TheSameTraceTwiceIsAnError) {
  Partial sum = random_partial(1);
  const std::string before = *partial_bytes(sum);
  const Partial renamed = *Partial::of(random_trace(1), "elsewhere");
  const Status merged = sum.merge(renamed);
  EXPECT_EQ(merged.code(), StatusCode::invalid_argument);
  EXPECT_NE(merged.message().find("elsewhere is in both, once as trace_1"), std::string::npos)
      << merged.message();
  EXPECT_EQ(*partial_bytes(sum), before);
}

TEST(MergedPartials, OfDifferentOptionsAreAnError) {
  Partial sum = random_partial(1);
  const std::string before = *partial_bytes(sum);
  for (const PartialOptions& options :
       {PartialOptions{.group_by_stack_n = 3}, PartialOptions{.stack_source = StackSource::frames},
        PartialOptions{.parts = {.lines = false}}}) {
    EXPECT_EQ(sum.merge(*Partial::of(random_trace(2), "other", options)).code(),
              StatusCode::invalid_argument);
  }
  EXPECT_EQ(*partial_bytes(sum), before);
}

TEST(MergedPartials, HaveTheSourcesOfAll) {
  Partial sum = random_partial(1);
  ASSERT_TRUE(sum.merge(random_partial(2)).ok());
  std::vector<std::string> names;
  for (const PartialSource& source : sum.sources()) {
    names.push_back(source.name);
    EXPECT_EQ(source.digest.size(), 32U);
  }
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"trace_1", "trace_2"}));
  EXPECT_TRUE(std::ranges::is_sorted(sum.sources(), {}, &PartialSource::digest));
}

TEST(MergedPartials, LeaveACopyOfTheirOnePartAlone) {
  Partial one = random_partial(1);
  const Partial copy = one.copy();
  const std::string before = *partial_bytes(one);
  EXPECT_EQ(*partial_bytes(copy), before);
  ASSERT_TRUE(one.merge(random_partial(2)).ok());
  EXPECT_NE(*partial_bytes(one), before);
  EXPECT_EQ(*partial_bytes(copy), before);
  EXPECT_EQ(copy.sources().size(), 1u);
}

}  // namespace
}  // namespace tbtrace::partials
