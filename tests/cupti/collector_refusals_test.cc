// Sessions that are refused, and calls that fail.
#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "cupti/collector.h"
#include "cupti/fake_gpu.h"

namespace tbtrace::cupti {
namespace {

using testing::HasSubstr;

TEST(CuptiRefusals, OfEachKindAreTold) {
  for (const int code : {15, 33, 35, 39, 40, 41, 43, 45, 999}) {
    FakeGpu gpu;
    gpu.cupti().fail_enable(static_cast<std::uint32_t>(ActivityKind::kernel), code);
    const auto collector = gpu.collector();
    const auto session = collector->begin({});
    ASSERT_FALSE(session.ok()) << code;
    EXPECT_EQ(session.status().code(), StatusCode::check_failed);
    EXPECT_THAT(session.status().message(), HasSubstr("(" + std::to_string(code) + ")"));
    EXPECT_EQ(gpu.cupti().enabled_kinds(), 0U) << code;
    EXPECT_EQ(gpu.cupti().enabled_calls(fake_cuda::kRuntimeApi), 0U) << code;
    // It may be granted later.
    gpu.cupti().fail_enable(static_cast<std::uint32_t>(ActivityKind::kernel), 0);
    EXPECT_TRUE(collector->begin({}).ok());
  }
}

TEST(CuptiRefusals, OfExtrasLeaveTheRest) {
  FakeGpu gpu;
  gpu.cupti().fail_enable(static_cast<std::uint32_t>(ActivityKind::synchronization), 27);
  const auto collector = gpu.collector(FakeGpu::impatient());
  const auto session = collector->begin({.extras = {.synchronization = true, .overhead = true}});
  ASSERT_TRUE(session.ok()) << session.status().message();
  EXPECT_THAT((*session)->shortcoming(), HasSubstr("synchronization events are not recorded"));
  EXPECT_TRUE(gpu.cupti().enabled(static_cast<std::uint32_t>(ActivityKind::overhead)));
}

TEST(CuptiRefusals, OfAnOldDriverNamesBothVersions) {
  FakeGpu gpu(FAKE_CUPTI_130);
  fake_cuda::DriverSetup setup;
  setup.version = 12040;
  gpu.driver().set_up(setup);
  const auto collector = gpu.collector();
  const auto session = collector->begin({});
  ASSERT_FALSE(session.ok());
  EXPECT_THAT(session.status().message(), HasSubstr("CUDA 12.4"));
  EXPECT_THAT(session.status().message(), HasSubstr("CUDA 13.0"));
  FakeGpu older(FAKE_CUPTI_124);
  older.driver().set_up(setup);
  EXPECT_TRUE(older.collector()->begin({}).ok());
}

TEST(CuptiRefusals, InAForkedChildItRefusesAndDoesNotHang) {
  FakeGpu gpu;
  const auto collector = gpu.collector(FakeGpu::impatient());
  auto session = collector->begin({});
  ASSERT_TRUE(session.ok());
  (*session)->begin_window();
  gpu.cupti().launch({.name = "k"});
  EXPECT_EXIT(
      {
        ::alarm(20);
        const bool refused = !collector->begin({}).ok();
        const auto trace = (*session)->end_window().get();
        *session = nullptr;
        ::_exit(refused && !trace->problem.empty() ? 7 : 1);
      },
      testing::ExitedWithCode(7), "");
  EXPECT_EQ((*session)->end_window().get()->activities.size(), 1U);
}

TEST(CuptiRefusals, AfterTheEndOfTheProgram) {
  FakeGpu gpu;
  const auto collector = gpu.collector(FakeGpu::impatient());
  auto session = collector->begin({});
  ASSERT_TRUE(session.ok());
  (*session)->begin_window();
  gpu.cupti().launch({.name = "k"});
  collector->shut_down();
  const auto trace = (*session)->end_window().get();
  EXPECT_EQ(trace->problem, "");
  EXPECT_EQ(trace->activities.size(), 1U);
  (*session)->begin_window();
  gpu.cupti().launch({.name = "endless", .time = {.duration_ns = 3'600'000'000'000}});
  gpu.cupti().skip_waits(true);
  gpu.cupti().fail("cuptiActivityFlushAll", 0, 999);
  EXPECT_THAT((*session)->end_window().get()->problem, HasSubstr("the program ended"));
  gpu.cupti().fail("cuptiActivityFlushAll", 0, 0);
  gpu.library().flush_all(kFlushForced);  // the buffers come back and are freed
  EXPECT_FALSE(collector->begin({}).ok());
}

/// Each call of CUPTI and of the driver fails once, with each of several answers: what was begun
/// ends, and every record is there or counted, or the session is refused with a reason.
TEST(CuptiFaults, EveryCallMayFail) {
  for (const bool of_driver : {false, true}) {
    for (const int code : {1, 15, 999}) {
      std::uint64_t calls = 0;  // of a session in which none fails
      for (std::uint64_t nth = 0; nth <= calls; ++nth) {
        FakeGpu gpu;
        const auto collector = gpu.collector(FakeGpu::impatient());
        const std::uint64_t before = gpu.driver().calls(nullptr);
        if (nth > 0 && of_driver) gpu.driver().fail_call(before + nth, code);
        if (nth > 0 && !of_driver) gpu.cupti().fail_call(nth, code);
        auto session = collector->begin(
            {.extras = {.synchronization = true, .overhead = true, .operator_ids = true}});
        if (session.ok()) {
          (*session)->begin_window();
          for (int i = 0; i < 10; ++i) gpu.cupti().launch({.name = "k"});
          const auto trace = (*session)->end_window().get();
          // Kernels are there, or their loss is counted or reported. A shortcoming excuses only
          // what it names.
          const std::string& shortcoming = (*session)->shortcoming();
          const bool loss_is_known = trace->untimed + trace->lost > 0 || !trace->problem.empty();
          EXPECT_TRUE(trace->activities.size() == 10 || loss_is_known) << nth << " " << code;
          const bool has_no_calls = shortcoming.find("calls of the CUDA runtime") == 0;
          EXPECT_TRUE(trace->calls.size() == 10 || has_no_calls || loss_is_known)
              << nth << " " << code;
        } else {
          EXPECT_THAT(session.status().message(), HasSubstr("[cupti")) << nth;
        }
        if (session.ok()) *session = nullptr;
        calls = std::max(
            calls, of_driver ? gpu.driver().calls(nullptr) - before : gpu.cupti().calls(nullptr));
        gpu.cupti().fail_call(0, 0);
        gpu.driver().fail_call(0, 0);
        EXPECT_EQ(
            recorded(*collector, [&] { gpu.cupti().launch({.name = "k"}); })->activities.size(), 1U)
            << nth << " " << code;
      }
      EXPECT_GT(calls, 3U);
    }
  }
}

}  // namespace
}  // namespace tbtrace::cupti
