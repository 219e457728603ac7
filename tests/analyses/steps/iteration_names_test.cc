#include "analyses/steps/iteration_names.h"

#include <string_view>

#include <gtest/gtest.h>

namespace tbtrace::analyses {
namespace {

TEST(MatchesPattern, ComparesTextNumbersAndAnyText) {
  EXPECT_TRUE(matches_pattern("", ""));
  EXPECT_TRUE(matches_pattern("", "*"));
  EXPECT_TRUE(matches_pattern("step[DECODE bs=4]", "step[*]"));
  EXPECT_TRUE(matches_pattern("step[]]", "step[*]"));
  EXPECT_TRUE(matches_pattern("execute_new_12_cached_0", "execute_new_#_cached_#"));
  EXPECT_TRUE(matches_pattern("a1b22c", "*#c"));
  EXPECT_FALSE(matches_pattern("step", "step[*]"));
  EXPECT_FALSE(matches_pattern("step[x", "step[*]"));
  EXPECT_FALSE(matches_pattern("execute_new__cached_0", "execute_new_#_cached_#"));
  EXPECT_FALSE(matches_pattern("execute_new_1_cached_0 ", "execute_new_#_cached_#"));
  EXPECT_FALSE(matches_pattern("#", "#"));
  EXPECT_FALSE(matches_pattern("", "a"));
}

TEST(IterationNames, HavePatternsAndFramesOfEnginesAFolder) {
  for (const IterationName& iteration : iteration_names()) {
    EXPECT_FALSE(iteration.patterns[0].empty());
    const bool is_frame = iteration.place == IterationPlace::python_frame;
    EXPECT_EQ(is_frame && !iteration.engine.empty(), !iteration.folder.empty());
    EXPECT_EQ(iteration.engine.empty(), iteration.is_common_word);
  }
}

}  // namespace
}  // namespace tbtrace::analyses
