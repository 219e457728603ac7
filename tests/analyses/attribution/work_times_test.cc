#include "analyses/attribution/work_times.h"

#include <cstdint>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/findings.h>
#include <tbtrace/gpu.h>
#include <tbtrace/steps.h>

#include "fixtures/trace_rows.h"
#include "trace/links.h"

namespace tbtrace::analyses {
namespace {

using fixtures::add;
using fixtures::finished;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kSecond = 1000 * kMs;

/// A step of 100 ms that launches `kernels`, one per 10 ms.
class Recording {
 public:
  Recording() {
    add(builder, {.category = "user_annotation", .name = "ProfilerStep#1", .duration = 100 * kMs});
  }

  EventId kernel(std::int64_t start, std::int64_t duration,
                 std::string_view call = "cudaLaunchKernel", std::int64_t stream = 7) {
    ++correlation;
    add(builder, {.category = "cuda_runtime",
                  .name = call,
                  .start = correlation * 10 * kMs,
                  .duration = 5,
                  .correlation = correlation});
    return add(builder, {.category = "kernel",
                         .name = "gemm",
                         .start = start,
                         .duration = duration,
                         .thread = stream,
                         .process = 0,
                         .correlation = correlation});
  }

  TraceBuilder builder;
  std::int64_t correlation = 0;
};

TEST(WorkTimes, OfMisplacedWorkCountNowhere) {
  Recording made;
  const EventId early = made.kernel(-100 * kSecond, kMs);
  made.kernel(21 * kMs, 5 * kMs);
  made.kernel(31 * kMs, 5 * kMs);
  const EventId late = made.kernel(700'000'000 * kSecond, kMs);
  made.kernel(51 * kMs, 10 * kMs);
  const Trace trace = finished(made.builder);
  EXPECT_THAT(links_of(trace).misplaced(), ElementsAre(early, late));
  EXPECT_EQ(links_of(trace).device_work().size(), 5u);
  EXPECT_EQ(links_of(trace).placed_work().size(), 3u);
  EXPECT_EQ(trace.window_start_ns(), 0);
  EXPECT_EQ(trace.window_end_ns(), 100 * kMs);
  const std::vector<GpuUse> use = *gpu_use(trace);
  ASSERT_EQ(use.size(), 1u);
  EXPECT_EQ(use[0].window_ns, 40 * kMs);
  EXPECT_EQ(use[0].busy_ns, 20 * kMs);
  EXPECT_EQ(use[0].activities, 3u);
  const StepBreakdown steps = step_breakdown(trace);
  ASSERT_EQ(steps.steps.size(), 1u);
  EXPECT_EQ(steps.steps[0].duration_ns(), 100 * kMs);
  EXPECT_EQ(steps.steps[0].ns(StepRole::kernel), 20 * kMs);
  EXPECT_EQ(steps.steps[0].launched, 3u);
  ASSERT_EQ(work_time_notes(trace).size(), 1u);
  EXPECT_THAT(work_time_notes(trace)[0], testing::HasSubstr("2 device activities"));
}

TEST(WorkTimes, AreMisplacedBeforeTheirLaunchInALongRecording) {
  Recording made;
  add(made.builder, {.name = "aten::mm", .start = -100 * kSecond, .duration = 200 * kSecond});
  const EventId early = made.kernel(-50 * kSecond, kMs);
  made.kernel(21 * kMs, 5 * kMs);
  made.kernel(31 * kMs, 5 * kMs);
  EXPECT_THAT(links_of(finished(made.builder)).misplaced(), ElementsAre(early));
}

TEST(WorkTimes, AreNotMisplacedIfTheClockIsOffAsAWhole) {
  Recording made;
  for (int kernel = 1; kernel <= 3; ++kernel) made.kernel(kernel * kMs - 50 * kSecond, kMs / 2);
  const Trace trace = finished(made.builder);
  EXPECT_THAT(links_of(trace).misplaced(), IsEmpty());
  EXPECT_EQ((*gpu_use(trace))[0].activities, 3u);
}

TEST(WorkTimes, AreNotMisplacedWithoutHostRanges) {
  TraceBuilder builder;
  for (const std::int64_t start : {0, 1, 2}) {
    add(builder, {.category = "kernel", .start = start * 100 * kSecond, .duration = 5});
  }
  EXPECT_THAT(links_of(finished(builder)).misplaced(), IsEmpty());
}

TEST(StreamOverruns, AreActivitiesThatRunOn) {
  Recording made;
  made.kernel(11 * kMs, 2 * kMs);
  const EventId long_one = made.kernel(21 * kMs, 1600 * kMs);
  made.kernel(31 * kMs, 2 * kMs);
  made.kernel(41 * kMs, 2 * kMs);
  const std::vector<Overrun> overruns = stream_overruns(finished(made.builder));
  ASSERT_EQ(overruns.size(), 1u);
  EXPECT_EQ(overruns[0].activity, long_one);
  EXPECT_EQ(overruns[0].ns, 1590 * kMs);
}

TEST(StreamOverruns, AreNeitherOtherStreamsNorGraphsNorAMillisecond) {
  Recording streams;
  streams.kernel(21 * kMs, 1600 * kMs);
  streams.kernel(31 * kMs, 2 * kMs, "cudaLaunchKernel", 8);
  EXPECT_THAT(stream_overruns(finished(streams.builder)), IsEmpty());
  Recording graph;
  graph.kernel(21 * kMs, 1600 * kMs, "cudaGraphLaunch");
  graph.kernel(31 * kMs, 2 * kMs, "cudaGraphLaunch");
  EXPECT_THAT(stream_overruns(finished(graph.builder)), IsEmpty());
  Recording little;
  little.kernel(21 * kMs, 2 * kMs);
  little.kernel(22 * kMs, kMs / 2);
  little.kernel(22 * kMs + kMs / 2, kMs);
  EXPECT_THAT(stream_overruns(finished(little.builder)), IsEmpty());
}

TEST(LacksDurations, MakesNoFindingsAboutTheDevice) {
  const auto trace_with = [](std::int64_t duration) {
    Recording made;
    for (int kernel = 1; kernel <= 9; ++kernel) {
      made.kernel(kernel * 10 * kMs + 7, kernel % 3 == 0 ? 50'001 : duration);
    }
    return finished(made.builder);
  };
  const Trace sound = trace_with(50'001);
  EXPECT_FALSE(lacks_durations(sound));
  EXPECT_FALSE(findings(sound).empty());
  const Trace lost = trace_with(0);
  EXPECT_TRUE(lacks_durations(lost));
  EXPECT_TRUE(findings(lost).empty());
}

}  // namespace
}  // namespace tbtrace::analyses
