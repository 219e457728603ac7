#include "cupti/collector.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "cupti/clock.h"
#include "cupti/fake_gpu.h"

namespace tbtrace::cupti {
namespace {

using recorder::DeviceActivityKind;
using recorder::DeviceTrace;
using testing::HasSubstr;

std::map<std::string, std::uint64_t> kernels_by_name(const DeviceTrace& trace) {
  std::map<std::string, std::uint64_t> counts;
  for (std::size_t row = 0; row < trace.activities.size(); ++row) {
    const recorder::DeviceActivity activity = trace.activities[row];
    if (activity.kind != DeviceActivityKind::kernel) continue;
    ++counts[trace.names[trace.launches[activity.launch].name]];
  }
  return counts;
}

class CuptiOfRelease : public testing::TestWithParam<const char*> {};

/// Activities of all kinds are read back as they were scripted, whatever the release's records are
/// like.
TEST_P(CuptiOfRelease, RecordsWhatTheDeviceDid) {
  FakeGpu gpu(GetParam());
  const auto collector = gpu.collector(FakeGpu::impatient());
  std::uint32_t launched = 0;
  std::uint32_t graph = 0;
  std::uint32_t waited = 0;
  const auto trace =
      recorded(*collector,
               [&] {
                 auto& cuda = gpu.cupti();
                 launched = cuda.launch({.name = "_Z4gemmPf",
                                         .grid = {3, 4, 5},
                                         .block = {64, 2, 1},
                                         .registers = 48,
                                         .static_shared = 1024,
                                         .dynamic_shared = 100'000,
                                         .on = {.device = 1, .context = 2, .stream = 13},
                                         .channel = {.channel = 6, .type = 1}});
                 cuda.copy({.bytes = 4096, .kind = 2, .from_memory = 3, .to_memory = 2});
                 cuda.copy_peer({.bytes = 512, .from_device = 0, .to_device = 1});
                 cuda.fill({.bytes = 64});
                 graph = cuda.launch_graph(
                     {.graph = 9, .kernels = {{.name = "a"}, {.name = "b"}, {.name = "a"}}});
                 cuda.record_event({.event = 3});
                 waited = cuda.sync({.type = fake_cuda::kStreamSynchronize, .on = {.stream = 7}});
                 cuda.overhead({.data = true});
               },
               {.extras = {.synchronization = true, .overhead = true}});
  ASSERT_NE(trace, nullptr);
  EXPECT_EQ(trace->problem, "");
  EXPECT_EQ(trace->lost, 0U);
  EXPECT_EQ(trace->untimed, 0U);
  EXPECT_EQ(trace->interface_version, gpu.library().version);
  EXPECT_EQ(trace->driver_version, 13000);
  ASSERT_EQ(trace->devices.size(), 1U);
  EXPECT_EQ(trace->devices[0].name, "NVIDIA H200");

  const std::map<std::string, std::uint64_t> kernels = {{"_Z4gemmPf", 1}, {"a", 2}, {"b", 1}};
  EXPECT_EQ(kernels_by_name(*trace), kernels);
  std::set<std::uint64_t> nodes;
  for (std::size_t row = 0; row < trace->activities.size(); ++row) {
    const recorder::DeviceActivity activity = trace->activities[row];
    EXPECT_GT(activity.end_ticks, activity.start_ticks);
    if (activity.correlation == launched) {
      const recorder::KernelLaunch& launch = trace->launches[activity.launch];
      EXPECT_EQ(launch.grid, (std::array<std::int32_t, 3>{3, 4, 5}));
      EXPECT_EQ(launch.block, (std::array<std::int32_t, 3>{64, 2, 1}));
      EXPECT_EQ(launch.registers_per_thread, 48U);
      EXPECT_EQ(launch.static_shared_bytes, 1024);
      EXPECT_EQ(launch.dynamic_shared_bytes, 100'000);
      EXPECT_EQ(activity.place.device, 1U);
      EXPECT_EQ(activity.place.context, 2U);
      EXPECT_EQ(activity.place.stream, 13U);
      EXPECT_EQ(activity.place.channel, 6U);
      EXPECT_EQ(activity.place.channel_type, 1U);
    } else if (activity.correlation == graph) {
      EXPECT_EQ(activity.place.graph, 9U);
      nodes.insert(activity.place.graph_node);
    } else if (activity.kind == DeviceActivityKind::memcpy && activity.transfer.peers == 0) {
      EXPECT_EQ(activity.transfer.bytes, 4096U);
      EXPECT_EQ(activity.transfer.copy_kind, 2U);
      EXPECT_EQ(activity.transfer.from_memory, 3U);
      EXPECT_EQ(activity.transfer.to_memory, 2U);
    } else if (activity.kind == DeviceActivityKind::memcpy) {
      EXPECT_EQ(activity.transfer.bytes, 512U);
      EXPECT_EQ(trace->peers[activity.transfer.peers - 1].to_device, 1U);
      EXPECT_EQ(trace->peers[activity.transfer.peers - 1].to_context, 2U);
    } else {
      EXPECT_EQ(activity.kind, DeviceActivityKind::memset);
      EXPECT_EQ(activity.transfer.bytes, 64U);
      EXPECT_EQ(activity.transfer.to_memory, 3U);
    }
  }
  EXPECT_EQ(trace->activities.size(), 7U);
  EXPECT_EQ(nodes.size(), 3U);

  std::vector<std::string> calls;
  for (const auto& call : trace->calls) {
    EXPECT_EQ(call.thread, static_cast<std::uint32_t>(::gettid()));
    EXPECT_GE(call.end_ticks, call.start_ticks);
    calls.push_back(trace->names[trace->functions[call.function].name]);
  }
  std::sort(calls.begin(), calls.end());
  EXPECT_THAT(calls, testing::ElementsAre("cudaEventRecord", "cudaGraphLaunch", "cudaLaunchKernel",
                                          "cudaMemcpyAsync", "cudaMemcpyPeerAsync",
                                          "cudaMemsetAsync", "cudaStreamSynchronize"));
  ASSERT_EQ(trace->synchronizations.size(), 1U);
  EXPECT_EQ(trace->synchronizations[0].correlation, waited);
  EXPECT_EQ(trace->synchronizations[0].stream, 7U);
  ASSERT_EQ(trace->events.size(), 1U);
  EXPECT_EQ(trace->events[0].event, 3U);
  EXPECT_EQ(trace->overheads.size(), 1U);

  EXPECT_EQ(gpu.cupti().calls("cuptiSubscribe"), 0U);
  EXPECT_EQ(gpu.cupti().calls("cuptiFinalize"), 0U);
}

INSTANTIATE_TEST_SUITE_P(Releases, CuptiOfRelease, testing::ValuesIn(kFakes),
                         [](const auto& param) {
                           const std::string path = param.param;
                           const std::size_t slash = path.rfind('/');
                           return "cupti_" + path.substr(slash - 3, 3);
                         });

TEST(CuptiCollector, ClockIsRegisteredOnceAndNothingIsOnAfterwards) {
  FakeGpu gpu;
  {
    const auto collector = gpu.collector(FakeGpu::impatient());
    for (int cycle = 0; cycle < 20; ++cycle) {
      const auto trace = recorded(*collector, [&] { gpu.cupti().launch({.name = "k"}); });
      EXPECT_EQ(trace->activities.size(), 1U) << cycle;
      EXPECT_EQ(trace->calls.size(), 1U) << cycle;
    }
    EXPECT_EQ(gpu.cupti().calls("cuptiActivityRegisterTimestampCallback"), 1U);
  }
  EXPECT_EQ(gpu.cupti().enabled_kinds(), 0U);
  EXPECT_EQ(gpu.cupti().enabled_calls(fake_cuda::kRuntimeApi), 0U);
  EXPECT_EQ(gpu.cupti().counters().buffers_unzeroed, 0U);
  EXPECT_EQ(gpu.cupti().counters().buffers_unaligned, 0U);
  EXPECT_EQ(gpu.cupti().counters().buffers_twice, 0U);
}

TEST(CuptiCollector, SessionsShareWhatTheyTraceAndEachHasItsWindow) {
  FakeGpu gpu;
  const auto collector = gpu.collector(FakeGpu::impatient());
  auto first = collector->begin({});
  auto second = collector->begin({.extras = {.synchronization = true}});
  ASSERT_TRUE(first.ok() && second.ok());
  (*first)->begin_window();
  gpu.cupti().launch({.name = "both not yet"});
  gpu.cupti().sync({});  // it starts 2 us after its launch
  (*second)->begin_window();
  gpu.cupti().launch({.name = "both"});
  const auto of_first = (*first)->end_window().get();
  *first = nullptr;
  gpu.cupti().launch({.name = "second"});
  gpu.cupti().sync({});
  const auto of_second = (*second)->end_window().get();
  using Counts = std::map<std::string, std::uint64_t>;
  EXPECT_EQ(kernels_by_name(*of_first), (Counts{{"both not yet", 1}, {"both", 1}}));
  EXPECT_EQ(kernels_by_name(*of_second), (Counts{{"both", 1}, {"second", 1}}));
  EXPECT_EQ(of_second->synchronizations.size(), 1U);
}

TEST(CuptiCollector, ThreadsLaunchAtOnceAndNothingIsLost) {
  FakeGpu gpu;
  const auto collector = gpu.collector(FakeGpu::impatient());
  constexpr int kThreads = 4;
  constexpr int kLaunches = 3000;
  const auto trace = recorded(*collector, [&] {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        for (int launch = 0; launch < kLaunches; ++launch) {
          gpu.cupti().launch({.name = "k", .on = {.stream = static_cast<std::uint32_t>(i)}});
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_EQ(trace->activities.size(), kThreads * kLaunches * 1U);
  EXPECT_EQ(trace->calls.size(), kThreads * kLaunches * 1U);
  EXPECT_EQ(trace->lost, 0U);
  std::map<std::uint32_t, int> by_thread;
  for (const auto& call : trace->calls) ++by_thread[call.thread];
  EXPECT_EQ(by_thread.size(), 1U * kThreads);
}

TEST(CuptiCollector, WhatIsNotDoneAtTheEndIsWaitedFor) {
  FakeGpu gpu;
  const auto collector = gpu.collector(FakeGpu::impatient());
  const auto trace = recorded(*collector, [&] {
    gpu.cupti().launch({.name = "long", .time = {.duration_ns = 30'000'000}});
  });
  ASSERT_EQ(trace->activities.size(), 1U);
  EXPECT_EQ(trace->untimed, 0U);
}

TEST(CuptiCollector, WithoutWaitingTheProgramGoesOnAndWorkStillComes) {
  FakeGpu gpu;
  const auto collector = gpu.collector(FakeGpu::impatient());
  auto session =
      collector->begin({.wait_for_device = false, .patience = std::chrono::milliseconds(5000)});
  ASSERT_TRUE(session.ok());
  (*session)->begin_window();
  gpu.cupti().launch({.name = "long", .time = {.duration_ns = 300'000'000}});
  const auto pending = (*session)->end_window();
  EXPECT_EQ(pending.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  EXPECT_EQ(gpu.driver().calls("cuCtxSynchronize"), 0U);
  *session = nullptr;
  EXPECT_EQ(pending.get()->activities.size(), 1U);
  EXPECT_EQ(pending.get()->untimed, 0U);
}

TEST(CuptiCollector, WorkThatNeverEndsIsCountedAfterAWhile) {
  FakeGpu gpu;
  const auto collector = gpu.collector(FakeGpu::impatient());
  const auto trace =
      recorded(*collector,
               [&] {
                 gpu.cupti().launch({.name = "k", .time = {.duration_ns = 3'600'000'000'000}});
                 gpu.cupti().launch({.name = "other", .on = {.stream = 9}});
               },
               {.wait_for_device = false});
  EXPECT_EQ(trace->untimed, 1U);
  EXPECT_EQ(trace->activities.size(), 1U);
}

TEST(CuptiCollector, OrderAndLatenessChangeNothing) {
  for (const int way : {0, 1, 2}) {
    FakeGpu gpu;
    fake_cuda::Faults faults;
    if (way == 0) faults.calls_last = true;
    if (way == 1) faults.newest_first = true;
    if (way == 2) faults.late_ms = 30;
    gpu.cupti().set_faults(faults);
    const auto collector = gpu.collector(FakeGpu::impatient());
    const auto trace = recorded(*collector, [&] {
      for (int i = 0; i < 5000; ++i) gpu.cupti().launch({.name = "k"});
    });
    EXPECT_EQ(trace->activities.size(), 5000U) << way;
    EXPECT_EQ(trace->calls.size(), 5000U) << way;
    EXPECT_EQ(trace->problem, "") << way;
  }
}

/// They come while the window is being finished, again and again.
TEST(CuptiCollector, BuffersThatComeAtTheLastMomentAreRead) {
  FakeGpu gpu;
  fake_cuda::Faults faults;
  faults.late_ms = 1;
  gpu.cupti().set_faults(faults);
  const auto collector = gpu.collector(FakeGpu::impatient());
  for (int window = 0; window < 60; ++window) {
    const auto trace = recorded(*collector, [&] {
      for (int i = 0; i < 300; ++i) gpu.cupti().launch({.name = "k"});
    });
    ASSERT_EQ(trace->activities.size(), 300U) << window;
    ASSERT_EQ(trace->calls.size(), 300U) << window;
  }
}

TEST(CuptiCollector, WhatTheDriverDropsIsCounted) {
  FakeGpu gpu;
  const auto collector = gpu.collector(FakeGpu::impatient());
  const auto trace = recorded(*collector, [&] {
    fake_cuda::Faults faults;
    faults.drop_records = 7;
    gpu.cupti().set_faults(faults);
    for (int i = 0; i < 100; ++i) gpu.cupti().launch({.name = "k"});
  });
  EXPECT_EQ(trace->lost, 7U);
  EXPECT_EQ(trace->activities.size() + trace->calls.size(), 193U);
}

TEST(CuptiCollector, RecordsWithoutTimesAreCounted) {
  FakeGpu gpu;
  const auto collector = gpu.collector(FakeGpu::impatient());
  const auto trace = recorded(*collector, [&] {
    fake_cuda::Faults faults;
    faults.zero_times_every = 10;
    gpu.cupti().set_faults(faults);
    for (int i = 0; i < 100; ++i) gpu.cupti().launch({.name = "k"});
  });
  EXPECT_EQ(trace->untimed, 10U);
  EXPECT_EQ(trace->activities.size(), 90U);
}

/// More at once than there are buffers: memory stays within its limit, and all is accounted for.
TEST(CuptiCollector, WhatDoesNotFitIsCountedWithEveryRelease) {
  for (const char* path : kFakes) {
    FakeGpu gpu(path);
    auto settings = FakeGpu::impatient();
    settings.buffers.most_buffers = 2;
    const auto collector = gpu.collector(settings);
    constexpr std::uint64_t kLaunches = 100'000;
    const auto trace = recorded(*collector, [&] {
      gpu.cupti().generate(kLaunches, {.name = "k", .time = {.start_ns = 1}});
    });
    EXPECT_EQ(trace->activities.size() + trace->calls.size() + trace->lost + trace->untimed,
              2 * kLaunches)
        << path;
    // Before CUDA 12.9 requests beyond the limit get scraps.
    const auto limit = settings.buffers.most_buffers * settings.buffers.buffer_bytes;
    const bool has_scraps = gpu.library().version < 27;
    EXPECT_LE(collector->buffer_bytes(), has_scraps ? 2 * limit : limit) << path;
  }
}

TEST(CuptiCollector, AnotherProfilersTakeoverIsNoticed) {
  FakeGpu gpu;
  const auto collector = gpu.collector(FakeGpu::impatient());
  const auto trace = recorded(*collector, [&] {
    gpu.cupti().launch({.name = "ours"});
    gpu.cupti().take_over();
    for (int i = 0; i < 1000; ++i) gpu.cupti().launch({.name = "theirs"});
  });
  EXPECT_THAT(trace->problem, HasSubstr("another profiler"));
  // The next session has its own again.
  const auto later = recorded(*collector, [&] { gpu.cupti().launch({.name = "ours"}); });
  EXPECT_EQ(later->activities.size(), 1U);
  EXPECT_EQ(later->problem, "");
}

std::uint64_t other_clock() { return 3 * clock_ns(); }

/// As Kineto does whenever torch's profiler begins.
TEST(CuptiCollector, AClockThatAnotherProfilerSetIsSetBack) {
  FakeGpu gpu;
  const auto collector = gpu.collector(FakeGpu::impatient());
  EXPECT_EQ(recorded(*collector, [&] { gpu.cupti().launch({.name = "k"}); })->activities.size(),
            1U);
  gpu.library().register_timestamp(other_clock);
  const auto after = recorded(*collector, [&] { gpu.cupti().launch({.name = "k"}); });
  EXPECT_EQ(after->activities.size(), 1U);
  EXPECT_EQ(after->untimed, 0U);
  // Within a window nothing can be done, but to say so.
  const auto within = recorded(*collector, [&] {
    gpu.library().register_timestamp(other_clock);
    gpu.cupti().launch({.name = "k"});
  });
  EXPECT_EQ(within->activities.size(), 0U);
  EXPECT_EQ(within->untimed, 2U);
}

TEST(CuptiCollector, GarbageEndsABufferAndIsCounted) {
  FakeGpu gpu;
  const auto collector = gpu.collector(FakeGpu::impatient());
  const auto trace = recorded(*collector, [&] {
    gpu.cupti().launch({.name = "before"});
    const std::array<std::uint64_t, 2> garbage = {0x7fff, 0};
    gpu.cupti().put_bytes(garbage.data(), sizeof garbage);
    gpu.cupti().launch({.name = "behind"});
  });
  EXPECT_EQ(kernels_by_name(*trace).count("before"), 1U);
  EXPECT_EQ(kernels_by_name(*trace).count("behind"), 0U);
  EXPECT_EQ(trace->lost, 1U);
}

TEST(CuptiCollector, ACutRecordIsCounted) {
  FakeGpu gpu;
  const auto collector = gpu.collector(FakeGpu::impatient());
  const auto trace = recorded(*collector, [&] {
    fake_cuda::Faults faults;
    faults.truncate_buffers = 1;
    gpu.cupti().set_faults(faults);
    gpu.cupti().launch({.name = "k"});
  });
  EXPECT_EQ(trace->activities.size() + trace->calls.size(), 1U);
  EXPECT_EQ(trace->lost, 1U);
}

TEST(CuptiCollector, CorrelationsMayWrap) {
  FakeGpu gpu;
  const auto collector = gpu.collector(FakeGpu::impatient());
  const auto trace = recorded(*collector, [&] {
    gpu.cupti().set_correlation(0xfffffffe);
    for (int i = 0; i < 4; ++i) gpu.cupti().launch({.name = "k"});
  });
  std::set<std::uint32_t> calls;
  for (const auto& call : trace->calls) calls.insert(call.correlation);
  EXPECT_EQ(calls.size(), 4U);
  for (std::size_t row = 0; row < trace->activities.size(); ++row) {
    EXPECT_TRUE(calls.contains(trace->activities.correlation(row)));
  }
}

}  // namespace
}  // namespace tbtrace::cupti
