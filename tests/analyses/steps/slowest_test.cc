// The step that took longest, and why.
#include <cstdint>
#include <optional>

#include <gtest/gtest.h>

#include <tbtrace/steps.h>

#include "analyses/steps/step_rows.h"

namespace tbtrace {
namespace {

class SlowestStepOf : public analyses::StepRows {
 protected:
  std::optional<SlowestStep> slowest() {
    const Trace trace = fixtures::finished(builder_);
    return slowest_step(trace, step_breakdown(trace));
  }
};

TEST_F(SlowestStepOf, ThreeSaysWhatTookLongerThanUsual) {
  // The second copies for 500 ns more; the third multiplies for 100 ns more.
  step(7, 0, 1000);
  op(10, 400, "aten::mm");
  op(500, 100, "aten::copy_");
  step(8, 1000, 1500);
  op(1010, 400, "aten::mm");
  op(1500, 600, "aten::copy_");
  step(9, 2500, 1100);
  op(2510, 500, "aten::mm");
  op(3200, 100, "aten::copy_");
  const auto found = slowest();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->name, "ProfilerStep#8");
  EXPECT_EQ(found->number, 8);
  EXPECT_EQ(found->duration_ns, 1500);
  EXPECT_EQ(found->median_ns, 1100);
  EXPECT_EQ(found->part, "cpu_op");
  EXPECT_EQ(found->range, "aten::copy_");
  EXPECT_EQ(found->range_more_ns, 500);
}

/// The one that the table of steps shows as the longest.
TEST_F(SlowestStepOf, StepsThatWaitForTheirDeviceIsTheLongestWithItsDevice) {
  // The third takes longest on the host; the first one's kernel ends late.
  step(1, 0, 1000);
  op(10, 100);
  launch(20, 5, 1);
  work(100, 2000, 1);
  step(2, 1000, 1000);
  op(1010, 100);
  launch(1020, 5, 2);
  work(2100, 10, 2);
  step(3, 2000, 1200);
  op(2010, 300);
  launch(2020, 5, 3);
  work(2120, 10, 3);
  step(4, 3200, 1000);
  op(3210, 100);
  launch(3220, 5, 4);
  work(3300, 10, 4);
  const auto found = slowest();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->number, 1);
  EXPECT_EQ(found->duration_ns, 2100);
  EXPECT_EQ(found->part, "kernel");
  EXPECT_EQ(found->range, "") << "nothing on the host explains it";
}

TEST_F(SlowestStepOf, EqualStepsHasNoCause) {
  for (int number = 1; number <= 3; ++number) {
    step(number, number * 1000, 1000);
    op(number * 1000 + 10, 400);
  }
  const auto found = slowest();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->part, "");
  EXPECT_EQ(found->range, "");
}

TEST_F(SlowestStepOf, ACallThatBeganJustBeforeCounts) {
  step(1, 0, 1000);
  op(10, 400);
  step(2, 1000, 1000);
  op(1010, 400);
  op(1990, 5000, "aten::begin", 0, 2);  // on another thread
  step(3, 2000, 6000);
  op(7000, 400);
  const auto found = slowest();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->number, 3);
  EXPECT_EQ(found->range, "aten::begin");
  EXPECT_EQ(found->range_more_ns, 5000);
}

TEST_F(SlowestStepOf, StepsThatCompileKnowsForHowLong) {
  step(1, 0, 9000);
  op(10, 8000, "CachingAutotuner.benchmark_all_configs");
  op(100, 1000, "async_compile.wait (dynamo_timed)");
  step(2, 9000, 1000);
  op(9010, 400, "Torch-Compiled Region: 0/0");
  step(3, 10'000, 1200);
  op(10'010, 400, "TorchDynamo Cache Lookup");
  const auto found = slowest();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->number, 1);
  EXPECT_EQ(found->compilation_ns, 8000) << "each instant once";
  EXPECT_EQ(found->mean_of_others_ns, 1100);
}

TEST_F(SlowestStepOf, TwoIsUnknown) {
  step(1, 0, 1000);
  op(10, 400);
  step(2, 1000, 2000);
  op(1010, 400);
  EXPECT_FALSE(slowest().has_value()) << "neither is the usual one";
}

}  // namespace
}  // namespace tbtrace
