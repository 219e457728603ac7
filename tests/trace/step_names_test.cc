#include "trace/step_names.h"

#include <cstdint>
#include <optional>

#include <gtest/gtest.h>

namespace tbtrace {
namespace {

TEST(StepNames, HaveANumber) {
  EXPECT_EQ(step_number("ProfilerStep#5"), 5);
  EXPECT_EQ(step_number("ProfilerStep#-3"), -3);
  EXPECT_EQ(step_number(step_name(INT64_MAX)), INT64_MAX);
  for (const char* name : {"ProfilerStep#", "ProfilerStep#x", "ProfilerStep5", "5", ""}) {
    EXPECT_EQ(step_number(name), std::nullopt) << name;
  }
}

TEST(StepNames, MayBeginLikeOneWithoutANumber) {
  EXPECT_TRUE(is_step_name("ProfilerStep#x"));
  EXPECT_EQ(step_number_text("ProfilerStep#x#2"), "x#2");
  EXPECT_FALSE(is_step_name("ProfilerStep*"));
}

}  // namespace
}  // namespace tbtrace
