// Windows that end while memory runs out. Allocations of the collector's thread fail here, so these
// tests are a program of their own.
#include <chrono>
#include <functional>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cupti/collector.h"
#include "cupti/fake_gpu.h"
#include "fixtures/failing_new.h"

namespace tbtrace::cupti {
namespace {

TEST(CuptiCollectorMemory, WindowsBecomeReadyAtTheEndOfTheProgram) {
  for (int allocations = 0; allocations < 60; ++allocations) {
    FakeGpu gpu;
    CollectorSettings settings = FakeGpu::impatient();
    settings.start_thread = [allocations](std::function<void()> run) {
      return std::thread([allocations, run = std::move(run)] {
        allocations_left = allocations;
        run();
        allocations_left = kEndless;
      });
    };
    const auto collector = gpu.collector(settings);
    std::vector<recorder::PendingDeviceTrace> windows;
    for (int window = 0; window < 3; ++window) {
      auto session = collector->begin({});
      ASSERT_TRUE(session.ok());
      (*session)->begin_window();
      gpu.cupti().launch({.name = "k"});
      windows.push_back((*session)->end_window());
    }
    collector->shut_down();
    for (const recorder::PendingDeviceTrace& window : windows) {
      ASSERT_EQ(window.wait_for(std::chrono::seconds(20)), std::future_status::ready)
          << allocations;
    }
    // A buffer that CUPTI still has is never freed, and the thread may end before it asks for them.
    EXPECT_EQ(gpu.library().flush_all(kFlushForced), results::kSuccess);
  }
}

}  // namespace
}  // namespace tbtrace::cupti
