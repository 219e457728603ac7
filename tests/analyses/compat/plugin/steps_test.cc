// What torch-tb-profiler makes of the recordings of analyses/steps/breakdown_test.cc.
#include <cstdint>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/compat.h>
#include <tbtrace/steps.h>

#include "analyses/steps/random_steps.h"
#include "analyses/steps/step_rows.h"
#include "fixtures/random_rounds.h"
#include "fixtures/trace_rows.h"

namespace tbtrace::analyses {
namespace {

using fixtures::random_rounds;
using testing::ElementsAre;

class PluginSteps : public StepRows {
 protected:
  StepBreakdown made() {
    const Trace trace = fixtures::finished(builder_);
    return *step_breakdown(trace, Figures::plugin);
  }
};

TEST_F(PluginSteps, BearTheFarthestTimesThatFilesMayHave) {
  constexpr std::int64_t kFarthest = (std::int64_t{1} << 62) - 1;
  for (int number = 0; number < 5; ++number) step(number, -kFarthest, 2 * kFarthest);
  op(-kFarthest, 2 * kFarthest);
  work(-kFarthest, 2 * kFarthest);
  const StepBreakdown breakdown = made();
  ASSERT_EQ(breakdown.steps.size(), 5u);
  EXPECT_EQ(breakdown.steps[4].ns(StepRole::kernel), breakdown.steps[4].duration_ns());
  EXPECT_DOUBLE_EQ(breakdown.mean_duration_ns(), 2.0 * static_cast<double>(kFarthest));
  EXPECT_DOUBLE_EQ(breakdown.utilization(0), 1);
}

/// Its flaw: with nothing free, the runtime and then the operators are taken from all again.
TEST_F(PluginSteps, DoNotAddUpWhereAKernelCoversTheStep) {
  step(1, 0, 100'000);
  op(5'000, 20'000);
  launch(10'000, 5'000, 1);
  work(0, 100'000, 1);
  EXPECT_EQ(made().steps[0].role_ns, (StepParts{100'000, 0, 0, 0, 5'000, 0, 15'000, 80'000}));
}

TEST_F(PluginSteps, JoinKernelsToTheirCollectiveByTheirId) {
  step(1, 0, 100);
  op(10, 10, "nccl:all_reduce", 5);
  op(30, 10, "aten::mm", 6);
  launch(12, 2, 1);
  launch(32, 2, 2);
  work(40, 20, 1, "kernel", 5);
  work(50, 20, 2, "kernel", 6);
  EXPECT_EQ(made().steps[0].role_ns, (StepParts{20, 0, 0, 20, 2, 0, 8, 50}));
}

TEST_F(PluginSteps, KnowFiveCollectivesOnly) {
  step(1, 0, 100);
  op(10, 10, "record_param_comms", 5);
  op(12, 6, "nccl:_all_gather_base");
  launch(14, 2, 1);
  work(40, 20, 1, "kernel", 5);
  EXPECT_EQ(made().steps[0].role_ns, (StepParts{20, 0, 0, 0, 2, 0, 8, 70}));
}

TEST_F(PluginSteps, TakeACollectiveThatNothingLaunchedForAKernel) {
  step(1, 0, 100);
  fixtures::add(builder_, {.category = "kernel",
                           .name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)",
                           .start = 20,
                           .duration = 30,
                           .thread = 7,
                           .process = 0});
  EXPECT_EQ(made().steps[0].role_ns, (StepParts{30, 0, 0, 0, 0, 0, 0, 70}));
}

TEST_F(PluginSteps, AreNotWidenedByDriverCalls) {
  step(1, 0, 100);
  launch(10, 10, 1, "cuda_driver");
  work(90, 30, 1);
  const StepBreakdown breakdown = made();
  EXPECT_THAT(windows(breakdown), ElementsAre("ProfilerStep#1 0-100"));
  EXPECT_EQ(breakdown.steps[0].role_ns, (StepParts{10, 0, 0, 0, 0, 0, 0, 90}));
}

TEST_F(PluginSteps, TakeAnnotationsOnDevicesForTimeOfTheHost) {
  step(1, 0, 100);
  op(0, 10);
  fixtures::add(builder_, {.category = "gpu_user_annotation",
                           .name = "forward",
                           .start = 20,
                           .duration = 30,
                           .thread = 7,
                           .process = 0});
  fixtures::add(builder_, {.category = "gpu_user_annotation",
                           .name = "ProfilerStep#1",
                           .start = 20,
                           .duration = 60,
                           .thread = 7,
                           .process = 0});
  const StepBreakdown breakdown = made();
  ASSERT_EQ(breakdown.steps.size(), 2u);
  EXPECT_EQ(breakdown.steps[0].role_ns, (StepParts{0, 0, 0, 0, 0, 0, 40, 60}));
}

TEST_F(PluginSteps, NeverGiveAwayMoreThanAStepToOneRoleOfRandomTraces) {
  for (unsigned seed = 0; seed < random_rounds(8000u); ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = RandomSteps(seed).make();
    const StepBreakdown breakdown = *step_breakdown(trace, Figures::plugin);
    for (const StepTime& step : breakdown.steps) {
      std::int64_t sum = 0;
      for (const std::int64_t part : step.role_ns) {
        ASSERT_GE(part, 0);
        ASSERT_LE(part, step.duration_ns());
        sum += part;
      }
      ASSERT_GE(sum, step.duration_ns());
    }
  }
}

}  // namespace
}  // namespace tbtrace::analyses
