// torch's event list on small recordings that can be worked out by hand. The random tests beside
// this one have the same rules on thousands.
#include "analyses/torch/events.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/operators.h>

#include "fixtures/trace_rows.h"

namespace tbtrace::analyses {
namespace {

using fixtures::add;
using fixtures::finished;
using testing::ElementsAre;

std::vector<std::string> names(const TorchEvents& events) {
  std::vector<std::string> names;
  for (std::size_t row = 0; row < events.size(); ++row) {
    names.emplace_back(events.text(events.name(row)));
  }
  return names;
}

constexpr std::uint32_t kNone = TorchEvents::kNoParent;

std::vector<std::uint32_t> parents(const TorchEvents& events) {
  std::vector<std::uint32_t> parents;
  for (std::size_t row = 0; row < events.size(); ++row) parents.push_back(events.parent(row));
  return parents;
}

TEST(TorchEventTimes, CountFromTheStartOfTheRecordingInMicroseconds) {
  TraceBuilder builder;
  add(builder,
      {.category = "Trace", .name = "PyTorch Profiler (0)", .start = 500, .duration = 9000});
  add(builder, {.start = 1750, .duration = 3000});
  const Trace trace = finished(builder);
  const TorchEvents events(trace, {});
  ASSERT_EQ(events.size(), 1u) << "the span is no event";
  EXPECT_EQ(events.start_us(0), 1.25);
  EXPECT_EQ(events.end_us(0), 4.25);
  EXPECT_EQ(events.cpu_time_us(0), 3.0);
}

TEST(TorchEventTimes, AreDifferencesOfDoubles) {
  TraceBuilder builder;
  add(builder, {.name = "first", .start = 0, .duration = 1});
  add(builder, {.start = 100, .duration = 200});
  const Trace trace = finished(builder);
  EXPECT_EQ(TorchEvents(trace, {}).cpu_time_us(1), 0.3 - 0.1) << "which is not 0.2";
}

TEST(TorchEventOrder, IsByStartThenTheLongerFirst) {
  TraceBuilder builder;
  add(builder, {.name = "late", .start = 20, .duration = 5});
  add(builder, {.name = "short", .start = 10, .duration = 5, .rank = 1});
  add(builder, {.name = "long", .start = 10, .duration = 9, .rank = 2});
  add(builder, {.name = "equal", .start = 10, .duration = 9, .rank = 3});
  const Trace trace = finished(builder);
  EXPECT_THAT(names(TorchEvents(trace, {})), ElementsAre("long", "equal", "short", "late"));
}

TEST(TorchEventTree, HasTheBordersOfTorchs) {
  TraceBuilder builder;
  add(builder, {.name = "outer", .start = 0, .duration = 10});
  add(builder, {.name = "at the start", .start = 0, .duration = 0});
  add(builder, {.name = "to the end", .start = 5, .duration = 5});
  add(builder, {.name = "at the end", .start = 10, .duration = 0});
  const Trace trace = finished(builder);
  EXPECT_THAT(parents(TorchEvents(trace, {})), ElementsAre(kNone, 0u, 0u, kNone));
}

TEST(TorchEventTree, ForgetsARangeThatAnotherCrosses) {
  TraceBuilder builder;
  add(builder, {.name = "a", .start = 0, .duration = 100});
  add(builder, {.name = "b", .start = 10, .duration = 20});
  add(builder, {.name = "crossing", .start = 20, .duration = 20});
  add(builder, {.name = "in b alone", .start = 40, .duration = 5});
  const Trace trace = finished(builder);
  const TorchEvents events(trace, {});
  EXPECT_THAT(parents(events), ElementsAre(kNone, 0u, 0u, 0u));
  // 100 - 20 - 20 - 5 ns, though 10 ns of the two are the same.
  EXPECT_NEAR(events.self_cpu_time_us(0), 0.055, 1e-12);
}

TEST(TorchEventTree, IsOfEachThread) {
  TraceBuilder builder;
  add(builder, {.name = "a", .start = 0, .duration = 100, .thread = 1});
  add(builder, {.name = "b", .start = 10, .duration = 20, .thread = 2});
  const Trace trace = finished(builder);
  EXPECT_THAT(parents(TorchEvents(trace, {})), ElementsAre(kNone, kNone));
}

TEST(TorchDuplicates, AreTakenIntoTheirParent) {
  TraceBuilder builder;
  add(builder, {.name = "f", .start = 0, .duration = 100, .external_id = 1});
  add(builder, {.name = "f", .start = 10, .duration = 50, .external_id = 2});
  add(builder, {.name = "f", .start = 20, .duration = 30, .external_id = 3});
  add(builder, {.name = "g", .start = 25, .duration = 5, .external_id = 4});
  for (const int id : {1, 2, 3}) {
    add(builder, {.category = "kernel",
                  .name = "k",
                  .start = 200,
                  .duration = 1000 * id,
                  .thread = 7,
                  .process = 0,
                  .external_id = id});
  }
  const Trace trace = finished(builder);
  const TorchEvents events(trace, {});
  EXPECT_THAT(names(events), ElementsAre("f", "g", "k", "k", "k"));
  EXPECT_EQ(events.parent(1), 0u);
  EXPECT_NEAR(events.self_cpu_time_us(0), 0.095, 1e-12);
  ASSERT_EQ(events.kernels().size(), 1u) << "the parent's own kernels are lost, as in torch";
  EXPECT_EQ(events.elapsed_us(events.kernels()[0]), 3.0);
}

TEST(TorchDuplicates, StayWhereTheyAreNotAlone) {
  TraceBuilder builder;
  add(builder, {.name = "f", .start = 0, .duration = 100});
  add(builder, {.name = "f", .start = 10, .duration = 20});
  add(builder, {.name = "g", .start = 40, .duration = 20});
  const Trace trace = finished(builder);
  EXPECT_EQ(TorchEvents(trace, {}).size(), 3u);
}

TEST(TorchAsync, IsWhatNeverEndedAndWhatCollectivesAreCalled) {
  TraceBuilder builder;
  for (const std::string_view name :
       {"nccl:a", "gloo:a", "mpi:a", "ucc:a", "xccl:a", "hccl:a", "ncclX", "tcp:a", "gloo:"}) {
    add(builder, {.category = "user_annotation", .name = name, .start = 0, .duration = 10});
  }
  add(builder, {.name = "nccl:op", .start = 0, .duration = 10});
  const Trace trace = finished(builder);
  const TorchEvents events(trace, {});
  std::vector<std::string> async;
  for (std::size_t row = 0; row < events.size(); ++row) {
    if (events.is_async(row)) async.emplace_back(events.text(events.name(row)));
  }
  EXPECT_THAT(async, ElementsAre("nccl:a", "gloo:a", "mpi:a", "ucc:a", "xccl:a", "hccl:a"));
  EXPECT_EQ(events.cpu_time_us(0), 0.01);
  EXPECT_EQ(events.self_cpu_time_us(0), 0) << "it is in no tree";
  EXPECT_EQ(events.parent(0), kNone);
}

/// An operator with id 3 that launches through a call with id `call_id`, a kernel with `kernel_id`.
Trace launching(std::int64_t call_id, std::int64_t kernel_id, std::string_view category = "kernel",
                std::int64_t correlation = 9) {
  TraceBuilder builder;
  add(builder, {.name = "aten::mm", .start = 0, .duration = 100, .external_id = 3});
  add(builder, {.category = "cuda_runtime",
                .name = "launch",
                .start = 10,
                .duration = 5,
                .external_id = call_id,
                .correlation = correlation});
  add(builder, {.category = category,
                .name = "gemm",
                .start = 50,
                .duration = 7000,
                .thread = 7,
                .process = 0,
                .external_id = kernel_id,
                .correlation = correlation});
  return finished(builder);
}

TEST(TorchKernels, GoToTheOperatorThatTheyName) {
  const Trace trace = launching(3, 3);
  const TorchEvents events(trace, {});
  EXPECT_EQ(events.device_time_us(0), 7.0);
  EXPECT_EQ(events.self_device_time_us(0), 7.0);
  ASSERT_EQ(events.kernels().size(), 1u);
  EXPECT_EQ(events.kernels()[0].row, 0u);
  EXPECT_EQ(events.text(events.kernels()[0].name), "gemm");
  EXPECT_EQ(events.device_time_us(1), 0) << "of the launch";
  EXPECT_EQ(events.device_time_us(2), 7.0) << "the kernel has a row too";
  EXPECT_EQ(events.cpu_time_us(2), 0);
}

TEST(TorchKernels, StandAloneIfTheyNameNothing) {
  EXPECT_TRUE(TorchEvents(launching(3, 0), {}).kernels().empty());
  EXPECT_TRUE(TorchEvents(launching(3, 4), {}).kernels().empty());
}

TEST(TorchKernels, GoToTheOperatorAroundTheirLaunchWhereIdsAreBroken) {
  const Trace trace = launching(9, 9);
  ASSERT_FALSE(trace.links().external_ids_valid);
  const TorchEvents events(trace, {});
  EXPECT_EQ(events.device_time_us(0), 7.0);
}

TEST(TorchKernels, AreWaitsTooIfTheyNameAnOperator) {
  EXPECT_EQ(TorchEvents(launching(3, 3, "cuda_sync"), {}).kernels().size(), 1u);
  EXPECT_TRUE(TorchEvents(launching(9, 9, "cuda_sync"), {}).kernels().empty());
}

TEST(TorchKernels, AreNotTheShadowsOfAnnotations) {
  EXPECT_TRUE(TorchEvents(launching(3, 3, "gpu_user_annotation"), {}).kernels().empty());
}

TEST(TorchKernels, DoNotGoToCallsOfTheRuntimeOrToOverhead) {
  TraceBuilder builder;
  add(builder, {.category = "cuda_runtime", .start = 0, .duration = 5, .external_id = 3});
  add(builder, {.category = "overhead", .start = 0, .duration = 5, .external_id = 3});
  add(builder, {.category = "kernel", .start = 9, .duration = 5, .thread = 7, .external_id = 3});
  const Trace trace = finished(builder);
  EXPECT_TRUE(TorchEvents(trace, {}).kernels().empty());
}

TEST(TorchKernels, TakeTheirLaunchToTheThreadOfTheOperator) {
  TraceBuilder builder;
  add(builder, {.name = "aten::mm", .start = 0, .duration = 100, .thread = 1, .external_id = 3});
  add(builder, {.category = "cuda_runtime",
                .start = 10,
                .duration = 5,
                .thread = 2,
                .external_id = 3,
                .correlation = 9});
  const Trace trace = finished(builder);
  EXPECT_THAT(parents(TorchEvents(trace, {})), ElementsAre(kNone, 0u));
}

TEST(TorchDeviceTime, AddsUpWhatIsBelow) {
  TraceBuilder builder;
  add(builder, {.name = "outer", .start = 0, .duration = 100, .external_id = 1});
  add(builder, {.name = "inner", .start = 10, .duration = 20, .external_id = 2});
  for (const int id : {1, 2, 2}) {
    add(builder, {.category = "kernel",
                  .name = "k",
                  .start = 200,
                  .duration = 1000 * id,
                  .thread = 7,
                  .external_id = id});
  }
  const Trace trace = finished(builder);
  const TorchEvents events(trace, {});
  EXPECT_EQ(events.device_time_us(0), 5.0);  // 1 + 2 * 2
  EXPECT_EQ(events.self_device_time_us(0), 1.0);
  EXPECT_EQ(events.device_time_us(1), 4.0);
}

Trace with_shadow(std::int64_t start, std::int64_t duration, std::int64_t other_start) {
  TraceBuilder builder;
  add(builder, {.name = "op", .start = other_start, .duration = 1000});
  add(builder, {.category = "gpu_user_annotation",
                .name = "step",
                .start = start,
                .duration = duration,
                .thread = 7,
                .process = 0});
  return finished(builder);
}

TEST(TorchShadows, AreNarrowedByANanosecondAtBothEnds) {
  const Trace trace = with_shadow(5000, 2000, 1);
  const TorchEvents events(trace, {});
  EXPECT_EQ(events.start_us(1), 5.0);  // 5000 + 1 from 1
  EXPECT_EQ(events.end_us(1), 6.998);
  EXPECT_TRUE(events.is_user_annotation(1));
}

TEST(TorchShadows, AreNarrowedByAMicrosecondWhereTimesAreWhole) {
  const Trace trace = with_shadow(5000, 2000, 0);
  const TorchEvents events(trace, {});
  EXPECT_EQ(events.start_us(1), 6.0);
  EXPECT_EQ(events.end_us(1), 7.0);
}

TEST(TorchShadows, StayAsTheyAreIfTooShort) {
  const Trace trace = with_shadow(5001, 1, 1);
  const TorchEvents events(trace, {});
  EXPECT_EQ(events.start_us(1), 5.0);
  EXPECT_EQ(events.end_us(1), 5.001);
}

/// A kernel and the call that launched another, at the same instant and of the same length.
TEST(TorchShadows, DoNotChangeTheOrderOfOtherRows) {
  for (const bool shadow : {false, true}) {
    TraceBuilder builder;
    add(builder, {.category = "kernel", .name = "k", .start = 10, .duration = 5, .thread = 7});
    add(builder, {.category = "cuda_runtime", .name = "call", .start = 10, .duration = 5});
    if (shadow) {
      add(builder,
          {.category = "gpu_user_annotation", .name = "s", .start = 9, .duration = 7, .thread = 7});
    }
    const Trace trace = finished(builder);
    std::vector<std::string> shown = names(TorchEvents(trace, {}));
    std::erase(shown, "s");
    EXPECT_THAT(shown, ElementsAre("k", "call")) << "as in the file";
  }
}

MemoryRecord record(TraceBuilder& builder, std::int64_t time, std::int64_t bytes,
                    std::int16_t device = 0, bool failed = false) {
  MemoryRecord record;
  record.time_ns = time;
  record.bytes = bytes;
  record.device_type = DeviceType{device};
  record.out_of_memory = failed;
  record.track = fixtures::track(builder, 1, 1);
  return record;
}

TEST(TorchMemoryRows, AreMadeOfRecordsInNoRange) {
  TraceBuilder builder;
  add(builder, {.name = "f", .start = 10, .duration = 10});
  builder.add_memory(record(builder, 9, 1));
  builder.add_memory(record(builder, 10, 20));
  builder.add_memory(record(builder, 20, 300));
  builder.add_memory(record(builder, 21, 4000));
  builder.add_memory(record(builder, 15, 50000, 0, true));
  const Trace trace = finished(builder);
  const TorchEvents events(trace, {});
  const EventList list = tbtrace::events(trace);
  EXPECT_THAT(names(events), ElementsAre("[memory]", "f", "[OutOfMemory]", "[memory]"));
  EXPECT_EQ(list[0].cpu_memory_usage_bytes, 1);
  EXPECT_EQ(list[1].cpu_memory_usage_bytes, 320) << "both ends belong to a range";
  EXPECT_EQ(list[2].cpu_memory_usage_bytes, 0);
  EXPECT_EQ(list[3].cpu_memory_usage_bytes, 4000);
  EXPECT_TRUE(events.is_memory_row(0));
  EXPECT_FALSE(events.is_memory_row(1));
  EXPECT_EQ(events.parent(2), 1u);
  EXPECT_EQ(events.flops(0), std::nullopt);
  EXPECT_EQ(events.flops(1), 0u);
}

TEST(TorchMemoryRows, CountForEveryRangeAroundThemOnAnyThread) {
  TraceBuilder builder;
  add(builder, {.name = "outer", .start = 0, .duration = 100});
  add(builder, {.name = "inner", .start = 10, .duration = 20});
  add(builder, {.name = "elsewhere", .start = 15, .duration = 20, .thread = 2});
  builder.add_memory(record(builder, 16, 64));
  builder.add_memory(record(builder, 17, 7, 1));
  const Trace trace = finished(builder);
  const EventList list = events(trace);
  ASSERT_EQ(list.size(), 3u);
  for (std::size_t row = 0; row < 3; ++row) {
    EXPECT_EQ(list[row].cpu_memory_usage_bytes, 64);
    EXPECT_EQ(list[row].device_memory_usage_bytes, 7);
  }
  EXPECT_EQ(list[0].self_cpu_memory_usage_bytes, 0);
  EXPECT_EQ(list[1].self_cpu_memory_usage_bytes, 64);
  EXPECT_EQ(list[2].self_device_memory_usage_bytes, 7);
}

}  // namespace
}  // namespace tbtrace::analyses
