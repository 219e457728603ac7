// Step breakdowns of small recordings that can be worked out by hand.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/steps.h>

#include "analyses/steps/step_rows.h"
#include "fixtures/trace_rows.h"

namespace tbtrace {
namespace {

using fixtures::add;
using fixtures::finished;
using testing::ElementsAre;
using testing::IsEmpty;
using Parts = analyses::StepParts;
using analyses::windows;

class StepBreakdownTest : public analyses::StepRows {
 protected:
  StepBreakdown made() {
    const Trace trace = finished(builder_);
    return step_breakdown(trace);
  }
};

TEST_F(StepBreakdownTest, GivesEachInstantToTheFirstRoleThatApplies) {
  // Roles from the last to the first, each 10 shorter at the front and covering the one before.
  step(3, 0, 100);
  op(10, 90);
  op(20, 80, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
  launch(30, 70, 1);
  op(40, 60, "nccl:all_reduce");
  work(50, 10, 1, "gpu_memset");
  work(60, 10, 1, "gpu_memcpy");
  work(70, 10, 1);
  const StepBreakdown breakdown = made();
  ASSERT_THAT(windows(breakdown), ElementsAre("ProfilerStep#3 0-100"));
  const StepTime& only = breakdown.steps[0];
  EXPECT_EQ(only.role_ns, (Parts{10, 10, 10, 30, 10, 10, 10, 10}));
  EXPECT_EQ(only.number, 3);
  EXPECT_EQ(only.ns(StepRole::communication), 30);  // 40 to 100 without 50 to 80
  EXPECT_EQ(only.launched, 3u);
  EXPECT_EQ(breakdown.dropped_steps, 0u);
}

TEST_F(StepBreakdownTest, AStepThatDidNotEndIsNotAmongTheSteps) {
  for (const bool has_work : {false, true}) {
    builder_ = TraceBuilder();
    step(1, 0, 100);
    step(2, 100, 110);
    open_step(3, 210, 5000);
    op(10, 50);
    op(110, 60);
    op(220, 4990);
    if (has_work) {
      for (int number = 0; number < 2; ++number) {
        launch(20 + 100 * number, 5, number + 1);
        work(30 + 100 * number, 5, number + 1);
      }
      launch(230, 5, 3);
      work(240, 5, 3);
    }
    const Trace trace = finished(builder_);
    for (const bool keep_tail : {false, true}) {
      const StepBreakdown breakdown = step_breakdown(trace, {.keep_tail_steps = keep_tail});
      EXPECT_THAT(windows(breakdown),
                  ElementsAre("ProfilerStep#1 0-100", "ProfilerStep#2 100-210"));
      EXPECT_EQ(breakdown.mean_duration_ns(), 105);
      EXPECT_EQ(breakdown.dropped_steps, 0u);
      ASSERT_EQ(breakdown.unfinished_steps.size(), 1u);
      EXPECT_EQ(breakdown.unfinished_steps[0].number, 3);
      EXPECT_EQ(breakdown.unfinished_steps[0].start_ns, 210);
      EXPECT_EQ(breakdown.unfinished_steps[0].end_ns, 5210);
      const UnfinishedStep& unfinished = breakdown.unfinished_steps[0];
      EXPECT_EQ(unfinished.duration_ns(), 5000);
      EXPECT_EQ(unfinished_step_text(breakdown.unfinished_steps[0]),
                "ProfilerStep#3 did not end: what was recorded of it is 5.000 us. It is not among "
                "the steps or in their means.");
      EXPECT_FALSE(slowest_step(trace, breakdown).has_value()) << "of two steps, none is usual";
      const Result<AnalysisReport> open = steps_report(trace, breakdown, StepRange{3, 3});
      EXPECT_EQ(open.status().message(), "cannot show step 3: it did not end, so it has no row");
    }
  }
}

// The device is 300 behind the host when the recording begins: three kernels without a launch.
TEST_F(StepBreakdownTest, WhatWasLaunchedBeforeTheRecordingIsNotOfTheFirstStep) {
  for (int number = 0; number < 3; ++number) work(10 + 100 * number, 100);
  for (int number = 0; number < 2; ++number) {
    step(number, 100 * number, 100);
    launch(20 + 100 * number, 5, number + 1);
    work(310 + 200 * number, 200, number + 1);
  }
  EXPECT_THAT(windows(made()), ElementsAre("ProfilerStep#0 310-510", "ProfilerStep#1 510-710"));
}

// What has no launch after the first work with one may be of the step.
TEST_F(StepBreakdownTest, WorkWithoutALaunchAmongTheStepsWorkIsOfTheStep) {
  step(0, 0, 100);
  launch(20, 5, 1);
  work(30, 100, 1);
  work(130, 100);
  launch(40, 5, 2);
  work(230, 100, 2);
  EXPECT_THAT(windows(made()), ElementsAre("ProfilerStep#0 0-330"));
}

TEST_F(StepBreakdownTest, StepsThatHaveLostTheirTimesAreNone) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  step(0, kSecond, 100);
  op(kSecond + 10, 50);
  step(1, kSecond + 100, 100);
  op(kSecond + 110, 50);
  step(2, 0, 0);
  op(0, 0);
  EXPECT_THAT(windows(made()), ElementsAre("ProfilerStep#0 1000000000-1000000100",
                                           "ProfilerStep#1 1000000100-1000000200"));
}

TEST_F(StepBreakdownTest, DataLoadingOnAThreadWithoutStepsIsNotAWait) {
  step(1, 0, 100);
  op(10, 50);
  op(0, 100, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 0, 2);
  EXPECT_EQ(made().steps.at(0).role_ns, (Parts{0, 0, 0, 0, 0, 0, 50, 50}));
}

TEST_F(StepBreakdownTest, WithoutStepsTheThreadOfTheFirstForwardOperatorWaitsForData) {
  op(0, 100, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 0, 2);
  op(10, 20, "AddmmBackward0", 0, 3);
  op(20, 30);
  op(60, 10, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
  EXPECT_EQ(made().steps.at(0).role_ns, (Parts{0, 0, 0, 0, 0, 10, 40, 50}));
}

TEST_F(StepBreakdownTest, WithoutOperatorsEachLoaderIsAWait) {
  op(0, 100, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 0, 2);
  EXPECT_EQ(made().steps.at(0).role_ns, (Parts{0, 0, 0, 0, 0, 100, 0, 0}));
}

TEST_F(StepBreakdownTest, CountsTimeOnceWhateverOverlaps) {
  step(1, 0, 100);
  op(10, 50);
  op(20, 10);                       // nested
  op(40, 40, "aten::add", 0, 2);    // on another thread
  work(30, 20, 0, "kernel", 0, 0);  // two devices at once
  work(40, 20, 0, "kernel", 0, 1);
  const StepBreakdown breakdown = made();
  EXPECT_EQ(breakdown.steps[0].role_ns, (Parts{30, 0, 0, 0, 0, 0, 40, 30}));
  EXPECT_THAT(breakdown.devices, ElementsAre(0, 1));
  EXPECT_THAT(breakdown.steps[0].busy_ns, ElementsAre(20, 20));
  EXPECT_DOUBLE_EQ(breakdown.steps[0].utilization(1), 0.2);
}

TEST_F(StepBreakdownTest, WidensAStepToTheWorkThatItLaunched) {
  step(1, 0, 100);
  step(2, 100, 100);
  launch(50, 5, 1);
  work(90, 50, 1);  // outlives its step by 40
  launch(150, 5, 2);
  work(160, 10, 2);
  const StepBreakdown breakdown = made();
  EXPECT_THAT(windows(breakdown), ElementsAre("ProfilerStep#1 0-140", "ProfilerStep#2 100-200"));
  EXPECT_EQ(breakdown.steps[0].role_ns, (Parts{50, 0, 0, 0, 5, 0, 0, 85}));
  EXPECT_EQ(breakdown.steps[1].role_ns, (Parts{50, 0, 0, 0, 5, 0, 0, 45}));
  EXPECT_DOUBLE_EQ(breakdown.mean_duration_ns(), 120);
  EXPECT_DOUBLE_EQ(breakdown.mean_ns(StepRole::kernel), 50);
  EXPECT_DOUBLE_EQ(breakdown.utilization(0), 0.3);
}

TEST_F(StepBreakdownTest, LeavesAStepItsPartOnTheHostIfItWasOverBeforeTheOneBefore) {
  step(1, 0, 10);
  step(2, 10, 10);
  step(3, 20, 10);
  launch(5, 1, 1);
  work(6, 94, 1);  // runs until 100
  launch(15, 1, 2);
  work(16, 14, 2, "kernel", 0, 1);  // on another device
  launch(25, 1, 3);
  work(120, 5, 3);
  EXPECT_THAT(windows(made()), ElementsAre("ProfilerStep#1 0-100", "ProfilerStep#2 90-100",
                                           "ProfilerStep#3 100-125"));
}

TEST_F(StepBreakdownTest, BeginsWhenEarlierWorkIsDone) {
  launch(0, 5, 9);
  work(10, 25, 9);  // launched before the first step, runs until 35
  step(1, 20, 80);
  launch(30, 5, 1);
  work(40, 90, 1);
  EXPECT_THAT(windows(made()), ElementsAre("ProfilerStep#1 35-130"));
}

TEST_F(StepBreakdownTest, DoesNotTakeWorkWithoutALaunchForEarlierWork) {
  step(1, 20, 80);
  work(30, 60, 9);  // its launch was not recorded
  launch(30, 5, 1);
  work(95, 45, 1);
  EXPECT_THAT(windows(made()), ElementsAre("ProfilerStep#1 20-140"));
}

TEST_F(StepBreakdownTest, DropsStepsAtTheEndWhoseWorkMayBeMissing) {
  for (int number = 1; number <= 4; ++number) step(number, number * 100, 100);
  for (int number = 1; number <= 3; ++number) {
    const int kernels = number == 3 ? 7 : 10;  // less than 0.8 times as many, then none
    for (int kernel = 0; kernel < kernels; ++kernel) {
      const std::int64_t at = number * 100 + kernel * 10;
      launch(at, 1, at);
      work(at + 1, 1, at);
    }
  }
  const Trace trace = finished(builder_);
  const StepBreakdown breakdown = step_breakdown(trace);
  EXPECT_THAT(windows(breakdown), ElementsAre("ProfilerStep#1 100-200", "ProfilerStep#2 200-300"));
  EXPECT_EQ(breakdown.dropped_steps, 2u);
  EXPECT_EQ(step_breakdown(trace, {.keep_tail_steps = true}).steps.size(), 4u);
}

TEST_F(StepBreakdownTest, KeepsAllStepsOfARecordingWithoutDevices) {
  step(1, 0, 100);
  step(2, 100, 50);
  op(10, 30);
  const StepBreakdown breakdown = made();
  EXPECT_THAT(windows(breakdown), ElementsAre("ProfilerStep#1 0-100", "ProfilerStep#2 100-150"));
  EXPECT_THAT(breakdown.devices, IsEmpty());
  EXPECT_DOUBLE_EQ(breakdown.mean_duration_ns(), 75);
}

TEST_F(StepBreakdownTest, TakesAllOperatorsForAStepWhereThereAreNone) {
  op(10, 30);
  add(builder_, {.category = "user_annotation", .name = "epoch", .start = 0, .duration = 500});
  op(60, 40, "aten::add", 0, 2);
  launch(95, 2, 1);
  work(98, 30, 1);
  const StepBreakdown breakdown = made();
  ASSERT_THAT(windows(breakdown), ElementsAre("[all] 10-128"));
  EXPECT_EQ(breakdown.steps[0].number, 0);
  EXPECT_EQ(breakdown.steps[0].role_ns, (Parts{30, 0, 0, 0, 2, 0, 86, 0}));
}

TEST_F(StepBreakdownTest, HasNoStepsWithoutOperators) {
  work(10, 20);
  memory(15, 99);
  const StepBreakdown breakdown = made();
  EXPECT_THAT(breakdown.steps, IsEmpty());
  EXPECT_THAT(breakdown.devices, ElementsAre(0));
  EXPECT_EQ(breakdown.mean_duration_ns(), 0);
  EXPECT_EQ(breakdown.mean_ns(StepRole::kernel), 0);
  EXPECT_EQ(breakdown.utilization(0), 0);
  EXPECT_THAT(step_breakdown(finished(builder_ = TraceBuilder())).steps, IsEmpty());
}

TEST_F(StepBreakdownTest, BearsStepsWithoutLength) {
  step(1, 10, 0);
  step(2, 10, 0);
  step(3, 20, 10);
  op(0, 40);
  const StepBreakdown breakdown = made();
  ASSERT_EQ(breakdown.steps.size(), 3u);
  EXPECT_EQ(breakdown.steps[0].role_ns, Parts{});
  EXPECT_EQ(breakdown.steps[1].role_ns, Parts{});
  EXPECT_EQ(breakdown.steps[2].role_ns, (Parts{0, 0, 0, 0, 0, 0, 10, 0}));
}

TEST_F(StepBreakdownTest, BearsTheFarthestTimesThatFilesMayHave) {
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

TEST_F(StepBreakdownTest, AddsUpWhereAKernelCoversTheStep) {
  step(1, 0, 100'000);
  op(5'000, 20'000);
  launch(10'000, 5'000, 1);
  work(0, 100'000, 1);
  EXPECT_EQ(made().steps[0].role_ns, (Parts{100'000, 0, 0, 0, 0, 0, 0, 0}));
}

TEST_F(StepBreakdownTest, JoinsKernelsToTheirCollectiveByTheirId) {
  step(1, 0, 100);
  op(10, 10, "nccl:all_reduce", 5);
  op(30, 10, "aten::mm", 6);
  launch(12, 2, 1);
  launch(32, 2, 2);
  work(40, 20, 1, "kernel", 5);
  work(50, 20, 2, "kernel", 6);
  EXPECT_EQ(made().steps[0].role_ns, (Parts{20, 0, 0, 20, 2, 0, 8, 50}));
}

TEST_F(StepBreakdownTest, KnowsCollectivesOfTodaysTorch) {
  step(1, 0, 100);
  op(10, 10, "record_param_comms", 5);
  op(12, 6, "nccl:_all_gather_base");
  launch(14, 2, 1);
  work(40, 20, 1, "kernel", 5);
  EXPECT_EQ(made().steps[0].role_ns, (Parts{0, 0, 0, 26, 0, 0, 4, 70}));
}

TEST_F(StepBreakdownTest, KnowsKernelsOfCollectivesThatNothingLaunched) {
  step(1, 0, 100);
  add(builder_, {.category = "kernel",
                 .name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)",
                 .start = 20,
                 .duration = 30,
                 .thread = 7,
                 .process = 0});
  const StepBreakdown breakdown = made();
  EXPECT_EQ(breakdown.steps[0].role_ns, (Parts{0, 0, 0, 30, 0, 0, 0, 70}));
  EXPECT_THAT(breakdown.steps[0].busy_ns, ElementsAre(30)) << "it is a kernel";
}

TEST_F(StepBreakdownTest, TakesDriverCallsForLaunches) {
  step(1, 0, 100);
  launch(10, 10, 1, "cuda_driver");
  work(90, 30, 1);
  EXPECT_THAT(windows(made()), ElementsAre("ProfilerStep#1 0-120"));
}

TEST_F(StepBreakdownTest, TakesAnnotationsOnDevicesForNoTimeOfTheHost) {
  step(1, 0, 100);
  op(0, 10);
  add(builder_, {.category = "gpu_user_annotation",
                 .name = "forward",
                 .start = 20,
                 .duration = 30,
                 .thread = 7,
                 .process = 0});
  add(builder_, {.category = "gpu_user_annotation",
                 .name = "ProfilerStep#1",
                 .start = 20,
                 .duration = 60,
                 .thread = 7,
                 .process = 0});
  const StepBreakdown breakdown = made();
  ASSERT_EQ(breakdown.steps.size(), 1u);
  EXPECT_EQ(breakdown.steps[0].role_ns, (Parts{0, 0, 0, 0, 0, 0, 10, 90}));
}

TEST_F(StepBreakdownTest, FindsThePeakOfMemoryWithinEachStep) {
  step(1, 0, 100);
  step(2, 100, 100);
  step(3, 200, 100);
  memory(0, 10);
  memory(50, 70);
  memory(60, 20);
  memory(100, 90);  // the next step's
  memory(150, 5, 0, -1);
  memory(160, -1, 0, -1);  // the file does not say
  const StepBreakdown breakdown = made();
  EXPECT_THAT(breakdown.memory_devices, ElementsAre(StepMemoryDevice{DeviceType::cpu, -1},
                                                    StepMemoryDevice{DeviceType::cuda, 0}));
  using Peaks = std::vector<std::optional<std::int64_t>>;
  EXPECT_EQ(breakdown.steps[0].peak_memory_bytes, (Peaks{std::nullopt, 70}));
  EXPECT_EQ(breakdown.steps[1].peak_memory_bytes, (Peaks{5, 90}));
  EXPECT_EQ(breakdown.steps[2].peak_memory_bytes, (Peaks{std::nullopt, std::nullopt}));
}

TEST_F(StepBreakdownTest, CountsDevicesBeyondThoseThatItShows) {
  step(1, 0, 100);
  op(0, 50);
  for (int device = 0; device < 67; ++device) {
    work(10, 20, 0, "kernel", 0, device);
    memory(50, device, 1, static_cast<std::int16_t>(device));
  }
  memory(50, 1, 0, -1);
  const StepBreakdown breakdown = made();
  EXPECT_EQ(breakdown.devices.size(), StepBreakdown::kMostDevices);
  EXPECT_EQ(breakdown.devices_left_out, 3u);
  EXPECT_EQ(breakdown.memory_devices.size(), StepBreakdown::kMostDevices);
  EXPECT_EQ(breakdown.memory_devices_left_out, 4u);
}

}  // namespace
}  // namespace tbtrace
