#include "analyses/attribution/call_stack_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tbtrace::analyses {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(CallStackFrames, AreInnermostFirst) {
  EXPECT_THAT(call_stack_frames("f;main"), ElementsAre("f", "main")) << "as before 2021";
  EXPECT_THAT(call_stack_frames("f;main;"), ElementsAre("f", "main"));
  EXPECT_THAT(call_stack_frames("f"), ElementsAre("f"));
  EXPECT_THAT(call_stack_frames(""), IsEmpty());
}

TEST(CallStackFrames, MayHaveNoName) {
  EXPECT_THAT(call_stack_frames(";"), ElementsAre(""));
  EXPECT_THAT(call_stack_frames("f;;"), ElementsAre("f", ""));
  EXPECT_THAT(call_stack_frames(";f;;main;"), ElementsAre("", "f", "", "main"));
}

}  // namespace
}  // namespace tbtrace::analyses
