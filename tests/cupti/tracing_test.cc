// What CUPTI is told to record, and what other profilers in the process notice of it.
#include "cupti/tracing.h"

#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cupti/clock.h"
#include "cupti/collector.h"
#include "cupti/fake_gpu.h"

namespace tbtrace::cupti {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint32_t kLaunch = 211;    // cudaLaunchKernel
constexpr std::uint32_t kGetDevice = 17;  // cudaGetDevice

std::uint64_t other_clock() { return 3 * clock_ns(); }

int attribute(FakeGpu& gpu, int number) {
  std::uint8_t value = 0;
  std::size_t size = sizeof value;
  EXPECT_EQ(gpu.library().get_attribute(number, &size, &value), results::kSuccess);
  return value;
}

std::vector<std::string> call_names(const recorder::DeviceTrace& trace) {
  std::vector<std::string> names;
  for (const auto& call : trace.calls) {
    names.push_back(trace.names[trace.functions[call.function].name]);
  }
  return names;
}

/// Transcripts: functions that are switched on one by one in a running program record nothing.
TEST(CuptiTracing, KindsOfCallsAreOnAndUnwantedCallsOff) {
  FakeGpu gpu;
  const auto collector = gpu.collector();
  const auto session = collector->begin({});
  ASSERT_TRUE(session.ok()) << session.status().message();
  EXPECT_EQ((*session)->shortcoming(), "");
  EXPECT_TRUE(enabled(gpu, ActivityKind::runtime));
  EXPECT_TRUE(enabled(gpu, ActivityKind::driver));
  EXPECT_TRUE(gpu.cupti().call_enabled(fake_cuda::kRuntimeApi, kLaunch));
  EXPECT_FALSE(gpu.cupti().call_enabled(fake_cuda::kRuntimeApi, kGetDevice));
  EXPECT_TRUE(gpu.cupti().call_enabled(fake_cuda::kDriverApi, 307));   // cuLaunchKernel
  EXPECT_FALSE(gpu.cupti().call_enabled(fake_cuda::kDriverApi, 304));  // cuCtxGetCurrent
  for (const ActivityKind kind : {ActivityKind::synchronization, ActivityKind::overhead,
                                  ActivityKind::marker, ActivityKind::external_correlation}) {
    EXPECT_FALSE(enabled(gpu, kind));
  }
}

TEST(CuptiTracing, CallsThatCannotBeSwitchedOffAreLeftOutWhenRead) {
  FakeGpu gpu;
  gpu.cupti().fail("cuptiActivityEnableRuntimeApi", 0, 1);
  const auto collector = gpu.collector(FakeGpu::impatient());
  const auto trace = recorded(*collector, [&] {
    gpu.cupti().call({.cbid = kGetDevice});
    gpu.cupti().launch({.name = "k"});
  });
  EXPECT_THAT(call_names(*trace), ElementsAre("cudaLaunchKernel"));
  EXPECT_EQ(trace->problem, "");
  EXPECT_LT(gpu.cupti().calls("cuptiActivityEnableRuntimeApi"), 20U);  // each failure is slow
}

TEST(CuptiTracing, AllCallsAreRecordedOnRequest) {
  FakeGpu gpu;
  const auto collector = gpu.collector(FakeGpu::impatient());
  const auto chosen = collector->begin({});
  const auto all = collector->begin({.extras = {.all_calls = true}});
  ASSERT_TRUE(chosen.ok() && all.ok());
  (*chosen)->begin_window();
  (*all)->begin_window();
  gpu.cupti().call({.cbid = kGetDevice});
  gpu.cupti().launch({.name = "k"});
  EXPECT_THAT(call_names(*(*chosen)->end_window().get()), ElementsAre("cudaLaunchKernel"));
  EXPECT_THAT(call_names(*(*all)->end_window().get()),
              testing::UnorderedElementsAre("cudaGetDevice", "cudaLaunchKernel"));
}

TEST(CuptiTracing, RefusedKindsOfCallsAreAShortcoming) {
  FakeGpu gpu;
  gpu.cupti().fail_enable(static_cast<std::uint32_t>(ActivityKind::driver), 27);
  const auto collector = gpu.collector(FakeGpu::impatient());
  auto session = collector->begin({});
  ASSERT_TRUE(session.ok()) << session.status().message();
  EXPECT_THAT((*session)->shortcoming(), HasSubstr("calls of the CUDA driver are not recorded"));
  (*session)->begin_window();
  gpu.cupti().launch({.name = "k"});
  EXPECT_THAT(call_names(*(*session)->end_window().get()), ElementsAre("cudaLaunchKernel"));
}

TEST(CuptiTracing, KernelsWithoutCallsAreReported) {
  FakeGpu gpu;
  const auto collector = gpu.collector(FakeGpu::impatient());
  auto session = collector->begin({});
  ASSERT_TRUE(session.ok());
  (*session)->begin_window();
  gpu.library().disable(ActivityKind::runtime);  // as another profiler would
  for (int i = 0; i < 9; ++i) gpu.cupti().launch({.name = "k"});
  gpu.cupti().call({.cbid = 307, .domain = fake_cuda::kDriverApi});  // of something else
  const auto trace = (*session)->end_window().get();
  EXPECT_EQ(trace->activities.size(), 9U);
  EXPECT_THAT(trace->problem,
              HasSubstr("none of the 9 kernels, memcpys and memsets has its CUDA call"));
  EXPECT_EQ((*session)->problem().get(), trace->problem);
  // If a single one has its call, calls are recorded.
  gpu.library().enable(ActivityKind::runtime);
  (*session)->begin_window();
  gpu.library().disable(ActivityKind::runtime);
  for (int i = 0; i < 9; ++i) gpu.cupti().launch({.name = "k"});
  gpu.library().enable(ActivityKind::runtime);
  gpu.cupti().launch({.name = "k"});
  EXPECT_EQ((*session)->end_window().get()->problem, "");
  // A window may begin with kernels that were launched before.
  gpu.cupti().launch({.name = "k", .time = {.latency_ns = 0, .duration_ns = 5'000'000}});
  gpu.cupti().launch({.name = "before"});
  (*session)->begin_window();
  gpu.cupti().launch({.name = "within"});
  const auto both = (*session)->end_window().get();
  EXPECT_EQ(both->activities.size(), 2U);
  EXPECT_EQ(both->problem, "");
}

TEST(CuptiTracing, SettingsOfTheProcessAreRestored) {
  for (const char* path : kFakes) {
    FakeGpu gpu(path);
    const bool has_per_thread = gpu.library().version > 18;
    const int per_thread = has_per_thread ? attribute(gpu, kPerThreadBuffers) : 0;
    const auto collector = gpu.collector(FakeGpu::impatient());
    {
      const auto session = collector->begin({});
      ASSERT_TRUE(session.ok());
      EXPECT_EQ(attribute(gpu, kZeroedOutBuffers), 1) << path;
      if (has_per_thread) {
        EXPECT_EQ(attribute(gpu, kPerThreadBuffers), 1) << path;
      }
    }
    EXPECT_TRUE(soon([&] { return !enabled(gpu, ActivityKind::kernel); })) << path;
    EXPECT_TRUE(soon([&] { return attribute(gpu, kZeroedOutBuffers) == 0; })) << path;
    if (has_per_thread) {
      EXPECT_TRUE(soon([&] { return attribute(gpu, kPerThreadBuffers) == per_thread; })) << path;
    }
  }
}

TEST(CuptiTracing, SettingsAreRestoredAfterARefusal) {
  FakeGpu gpu(FAKE_CUPTI_124);
  gpu.cupti().fail_enable(static_cast<std::uint32_t>(ActivityKind::kernel), 35);
  const auto collector = gpu.collector();
  EXPECT_FALSE(collector->begin({}).ok());
  EXPECT_EQ(attribute(gpu, kZeroedOutBuffers), 0);
  EXPECT_EQ(attribute(gpu, kPerThreadBuffers), 0);
  EXPECT_EQ(gpu.cupti().enabled_kinds(), 0U);
}

TEST(CuptiTracing, SettingsThatCannotBeReadStay) {
  FakeGpu gpu(FAKE_CUPTI_124);
  gpu.cupti().fail("cuptiActivityGetAttribute", 0, 27);
  const auto collector = gpu.collector();
  ASSERT_TRUE(collector->begin({}).ok());
  EXPECT_EQ(gpu.cupti().calls("cuptiActivitySetAttribute"), 0U);
}

TEST(CuptiTracing, SettingsStayIfAnotherProfilerMayRecord) {
  FakeGpu gpu(FAKE_CUPTI_124);
  gpu.library().register_timestamp(other_clock);
  const auto collector = gpu.collector();
  ASSERT_TRUE(collector->begin({}).ok());
  EXPECT_EQ(gpu.cupti().calls("cuptiActivitySetAttribute"), 0U);
}

/// Kineto registers its clock and callbacks and enables what is on already.
TEST(CuptiTracing, AProfilerThatBeganLaterIsNotCutOff) {
  FakeGpu gpu;
  const auto collector = gpu.collector(FakeGpu::impatient());
  {
    auto session = collector->begin({.extras = {.markers = true}});
    ASSERT_TRUE(session.ok());
    (*session)->begin_window();
    gpu.cupti().launch({.name = "ours"});
    gpu.library().register_timestamp(other_clock);
    gpu.cupti().take_over();
    gpu.library().enable(ActivityKind::kernel);
    gpu.library().enable(ActivityKind::runtime);
    gpu.cupti().launch({.name = "theirs"});
    EXPECT_THAT((*session)->end_window().get()->problem, HasSubstr("another profiler"));
  }
  EXPECT_TRUE(soon([&] { return !enabled(gpu, ActivityKind::marker); }));
  EXPECT_TRUE(enabled(gpu, ActivityKind::kernel));
  EXPECT_TRUE(enabled(gpu, ActivityKind::runtime));
  // The next session has everything again, and nothing is on after it.
  const auto later = recorded(*collector, [&] { gpu.cupti().launch({.name = "ours"}); });
  EXPECT_EQ(later->problem, "");
  EXPECT_EQ(later->activities.size(), 1U);
  EXPECT_TRUE(soon([&] { return gpu.cupti().enabled_kinds() == 0; }));
}

/// It disables at its end what this collector had enabled.
TEST(CuptiTracing, KindsThatAnotherProfilerSwitchedOffAreSwitchedOnAgain) {
  FakeGpu gpu;
  const auto collector = gpu.collector(FakeGpu::impatient());
  const auto idle = collector->begin({.is_idle = true});
  ASSERT_TRUE(idle.ok());
  gpu.library().register_timestamp(other_clock);
  gpu.library().disable(ActivityKind::kernel);
  gpu.library().disable(ActivityKind::runtime);
  const auto trace = recorded(*collector, [&] { gpu.cupti().launch({.name = "k"}); });
  EXPECT_EQ(trace->activities.size(), 1U);
  EXPECT_EQ(trace->calls.size(), 1U);
}

/// Nobody is suspected if CUPTI does not return the registered clock's time.
TEST(CuptiTracing, AHiddenClockIsNotAnotherProfilers) {
  FakeGpu gpu;
  CuptiLibrary library = gpu.library();
  library.get_timestamp = [](std::uint64_t* time) {
    *time = static_cast<std::uint64_t>(std::time(nullptr)) * 1'000'000'000;
    return results::kSuccess;
  };
  Result<DriverLibrary> driver = DriverLibrary::open(FAKE_CUDA_DRIVER);
  ASSERT_TRUE(driver.ok());
  Collector collector(library, *std::move(driver), FakeGpu::impatient());
  for (int round = 0; round < 3; ++round) {
    const auto trace = recorded(collector, [&] { gpu.cupti().launch({.name = "k"}); });
    EXPECT_EQ(trace->problem, "");
    EXPECT_EQ(trace->activities.size(), 1U);
    EXPECT_TRUE(soon([&] { return gpu.cupti().enabled_kinds() == 0; }));
  }
  EXPECT_EQ(gpu.cupti().calls("cuptiActivityRegisterTimestampCallback"), 1U);
}

TEST(CuptiTracing, ACheckLeavesNothingBehind) {
  FakeGpu gpu;
  const auto collector = gpu.collector();
  EXPECT_TRUE(collector->check().ok());
  EXPECT_EQ(gpu.cupti().enabled_kinds(), 0U);
  for (const char* function :
       {"cuptiActivityRegisterCallbacks", "cuptiActivityRegisterTimestampCallback",
        "cuptiActivitySetAttribute", "cuptiActivityFlushAll"}) {
    EXPECT_EQ(gpu.cupti().calls(function), 0U) << function;
  }
  gpu.cupti().fail_enable(static_cast<std::uint32_t>(ActivityKind::kernel), 35);
  EXPECT_THAT(collector->check().message(), HasSubstr("(35)"));
}

TEST(CuptiTracing, ACheckDoesNotDisturbAnotherProfiler) {
  FakeGpu gpu;
  gpu.library().register_timestamp(other_clock);
  gpu.library().enable(ActivityKind::kernel);
  const auto collector = gpu.collector();
  EXPECT_TRUE(collector->check().ok());
  EXPECT_TRUE(enabled(gpu, ActivityKind::kernel));
  // Nor a session of this one.
  const auto session = collector->begin({});
  ASSERT_TRUE(session.ok());
  EXPECT_TRUE(collector->check().ok());
  EXPECT_TRUE(enabled(gpu, ActivityKind::kernel));
}

}  // namespace
}  // namespace tbtrace::cupti
