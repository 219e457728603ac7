// When the collector's thread runs, what it flushes, and how it ends.
#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cupti/collector.h"
#include "cupti/fake_gpu.h"

namespace tbtrace::cupti {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

CollectorSettings counting(std::atomic<int>& running) {
  CollectorSettings settings = FakeGpu::impatient();
  settings.flush_period = milliseconds(2);
  settings.start_thread = [&running](std::function<void()> run) {
    ++running;
    return std::thread([&running, run = std::move(run)] {
      run();
      --running;
    });
  };
  return settings;
}

TEST(CuptiCollectorThread, NothingRunsWithoutASession) {
  FakeGpu gpu;
  std::atomic<int> running = 0;
  const auto collector = gpu.collector(counting(running));
  EXPECT_TRUE(collector->check().ok());
  EXPECT_EQ(running, 0);
  for (int round = 0; round < 3; ++round) {
    const auto trace = recorded(*collector, [&] { gpu.cupti().launch({.name = "k"}); });
    EXPECT_EQ(trace->activities.size(), 1U);
    EXPECT_TRUE(soon([&] { return running == 0; }));
    EXPECT_EQ(gpu.cupti().enabled_kinds(), 0U);
    const std::uint64_t flushes = gpu.cupti().calls("cuptiActivityFlushAll");
    std::this_thread::sleep_for(milliseconds(30));
    EXPECT_EQ(gpu.cupti().calls("cuptiActivityFlushAll"), flushes);
  }
}

TEST(CuptiCollectorThread, SessionsKeepItRunning) {
  FakeGpu gpu;
  std::atomic<int> running = 0;
  const auto collector = gpu.collector(counting(running));
  const auto session = collector->begin({});
  ASSERT_TRUE(session.ok());
  const std::uint64_t flushes = gpu.cupti().calls("cuptiActivityFlushAll");
  EXPECT_TRUE(soon([&] { return gpu.cupti().calls("cuptiActivityFlushAll") > flushes + 2; }));
  { const auto other = collector->begin({}); }
  std::this_thread::sleep_for(milliseconds(10));
  EXPECT_EQ(running, 1);
  EXPECT_TRUE(enabled(gpu, ActivityKind::kernel));
}

TEST(CuptiCollectorThread, SessionsThatFollowEachOtherLoseNothing) {
  FakeGpu gpu;
  CollectorSettings settings = FakeGpu::impatient();
  // Enough for all windows: the thread that gives them back may not run for a while.
  settings.buffers.most_buffers = 4096;
  const auto collector = gpu.collector(settings);
  std::vector<recorder::PendingDeviceTrace> windows;
  for (int round = 0; round < 200; ++round) {
    auto session = collector->begin({});
    ASSERT_TRUE(session.ok());
    (*session)->begin_window();
    gpu.cupti().launch({.name = "k"});
    windows.push_back((*session)->end_window());
  }
  for (const auto& window : windows) {
    EXPECT_EQ(window.get()->activities.size(), 1U);
    EXPECT_EQ(window.get()->calls.size(), 1U);
    EXPECT_EQ(window.get()->lost, 0U);
    EXPECT_EQ(window.get()->problem, "");
  }
}

TEST(CuptiCollectorThread, AThreadThatCannotStartIsARefusal) {
  FakeGpu gpu;
  bool may_start = false;
  CollectorSettings settings = FakeGpu::impatient();
  settings.start_thread = [&may_start](std::function<void()> run) {
    if (!may_start) {
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    }
    return std::thread(std::move(run));
  };
  const auto collector = gpu.collector(settings);
  const auto session = collector->begin({});
  ASSERT_FALSE(session.ok());
  EXPECT_EQ(session.status().code(), StatusCode::check_failed);
  EXPECT_THAT(session.status().message(), HasSubstr("cannot be started"));
  EXPECT_THAT(session.status().message(), HasSubstr("more threads"));
  EXPECT_EQ(gpu.cupti().enabled_kinds(), 0U);
  may_start = true;
  EXPECT_EQ(recorded(*collector, [&] { gpu.cupti().launch({.name = "k"}); })->activities.size(),
            1U);
}

/// A forced flush takes the times from kernels that still run.
TEST(CuptiCollectorThread, NoFlushIsForcedWhileAnotherSessionLives) {
  FakeGpu gpu;
  const auto collector = gpu.collector(FakeGpu::impatient());
  auto longer = collector->begin({});
  auto shorter = collector->begin({.wait_for_device = false, .patience = milliseconds(20)});
  ASSERT_TRUE(longer.ok() && shorter.ok());
  (*longer)->begin_window();
  (*shorter)->begin_window();
  gpu.cupti().launch({.name = "long", .time = {.duration_ns = 400'000'000}});
  const auto of_shorter = (*shorter)->end_window().get();
  EXPECT_THAT(of_shorter->problem, HasSubstr("held back"));
  EXPECT_EQ(gpu.cupti().counters().forced_flushes, 0U);
  *shorter = nullptr;
  const auto of_longer = (*longer)->end_window().get();
  EXPECT_EQ(of_longer->activities.size(), 1U);
  EXPECT_EQ(of_longer->untimed, 0U);
  EXPECT_EQ(of_longer->problem, "");
}

/// What the first window did not wait for is not missing in the second one.
TEST(CuptiCollectorThread, BuffersThatWereGivenUpAreNotWaitedForAgain) {
  FakeGpu gpu;
  const auto collector = gpu.collector(FakeGpu::impatient());
  const auto keeper = collector->begin({});
  auto session = collector->begin({.wait_for_device = false, .patience = milliseconds(1000)});
  ASSERT_TRUE(keeper.ok() && session.ok());
  (*session)->begin_window();
  gpu.cupti().launch({.name = "endless", .time = {.duration_ns = 3'600'000'000'000}});
  EXPECT_NE((*session)->end_window().get()->problem, "");
  (*session)->begin_window();
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ((*session)->end_window().get()->problem, "");
  EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(800));
  gpu.library().flush_all(kFlushForced);  // the buffers come back and are freed
}

TEST(CuptiCollectorThread, WindowsMayEndWhileTheProgramDoes) {
  for (int round = 0; round < 20; ++round) {
    FakeGpu gpu;
    const auto collector = gpu.collector(FakeGpu::impatient());
    std::vector<std::thread> programs;
    for (int number = 0; number < 3; ++number) {
      programs.emplace_back([&] {
        for (int window = 0; window < 20; ++window) {
          auto session = collector->begin({});
          if (!session.ok()) continue;
          (*session)->begin_window();
          gpu.cupti().launch({.name = "k"});
          EXPECT_NE((*session)->end_window().get(), nullptr);
        }
      });
    }
    std::thread ending([&] { collector->shut_down(); });
    collector->shut_down();
    ending.join();
    for (std::thread& program : programs) program.join();
    EXPECT_FALSE(collector->begin({}).ok());
  }
}

TEST(CuptiCollectorThread, SessionsChooseHowMuchMemoryRecordsTake) {
  FakeGpu gpu;
  const std::size_t buffer = FakeGpu::impatient().buffers.buffer_bytes;
  const auto collector = gpu.collector(FakeGpu::impatient());
  // Nothing is done, and so no buffer comes back, before the window ends.
  gpu.cupti().skip_waits(true);
  const auto launch = [&] {
    gpu.cupti().launch({.name = "long", .time = {.duration_ns = 3'000'000'000}});
    gpu.cupti().generate(50'000, {.name = "k", .time = {.latency_ns = 1, .duration_ns = 1000}});
  };
  std::size_t most = 0;
  const auto small = recorded(*collector,
                              [&] {
                                launch();
                                most = collector->buffer_bytes();
                              },
                              {.most_buffer_bytes = 10 * buffer});
  EXPECT_LE(most, 10 * buffer);
  EXPECT_GT(small->lost, 0U);
  const auto large = recorded(*collector, launch, {.most_buffer_bytes = 1000 * buffer});
  EXPECT_EQ(large->lost, 0U);
  EXPECT_EQ(large->activities.size(), 50'001U);
  // Afterwards the collector's own limit holds again.
  EXPECT_TRUE(soon([&] { return collector->buffer_bytes() <= 64 * buffer; }));
}

}  // namespace
}  // namespace tbtrace::cupti
