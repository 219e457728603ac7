#include "cupti/detachment.h"

#include <gtest/gtest.h>

#include "cupti/collector.h"
#include "cupti/fake_gpu.h"

namespace tbtrace::cupti {
namespace {

std::uint64_t finalized(FakeGpu& gpu) { return gpu.cupti().calls("cuptiFinalize"); }

void record_and_end(FakeGpu& gpu, Collector& collector, bool detach_at_end) {
  const std::uint64_t before = gpu.cupti().calls("cuptiSubscribe");
  const auto trace = recorded(collector, [&] { gpu.cupti().launch({.name = "k"}); },
                              {.detach_at_end = detach_at_end});
  EXPECT_EQ(trace->activities.size(), 1U);
  EXPECT_EQ(trace->calls.size(), 1U);
  EXPECT_TRUE(soon([&] { return gpu.cupti().enabled_kinds() == 0; }));
  if (detach_at_end) {
    EXPECT_TRUE(soon([&] { return gpu.cupti().calls("cuptiSubscribe") > before; }));
  }
}

TEST(CuptiDetachment, CuptiIsFinalizedAtTheExitOfACallAndWorksAgain) {
  FakeGpu gpu;
  const auto collector = gpu.collector(FakeGpu::impatient());
  for (std::uint64_t round = 1; round <= 3; ++round) {
    record_and_end(gpu, *collector, true);
    EXPECT_EQ(finalized(gpu), round - 1);  // no call has ended since
    EXPECT_TRUE(soon([&] {
      gpu.cupti().launch({.name = "later"});
      return finalized(gpu) == round;
    }));
    gpu.cupti().launch({.name = "later"});
    EXPECT_EQ(finalized(gpu), round);
  }
  EXPECT_EQ(gpu.cupti().calls("cuptiUnsubscribe"), 3U);
}

TEST(CuptiDetachment, OnlyOnRequest) {
  FakeGpu gpu;
  const auto collector = gpu.collector(FakeGpu::impatient());
  record_and_end(gpu, *collector, false);
  gpu.cupti().launch({.name = "later"});
  EXPECT_EQ(finalized(gpu), 0U);
  EXPECT_EQ(gpu.cupti().calls("cuptiSubscribe"), 0U);
}

TEST(CuptiDetachment, ASessionThatBeginsBeforePreventsIt) {
  FakeGpu gpu;
  const auto collector = gpu.collector(FakeGpu::impatient());
  record_and_end(gpu, *collector, true);
  const auto trace = recorded(*collector, [&] { gpu.cupti().launch({.name = "k"}); });
  EXPECT_EQ(trace->activities.size(), 1U);
  EXPECT_EQ(finalized(gpu), 0U);
}

TEST(CuptiDetachment, AnotherSubscriberKeepsCuptiAttached) {
  FakeGpu gpu;
  void* other = nullptr;
  ASSERT_EQ(gpu.library().subscribe(
                &other, [](void*, int, std::uint32_t, const void*) {}, nullptr),
            results::kSuccess);
  const auto collector = gpu.collector(FakeGpu::impatient());
  record_and_end(gpu, *collector, true);
  gpu.cupti().launch({.name = "later"});
  EXPECT_EQ(finalized(gpu), 0U);
  record_and_end(gpu, *collector, false);
}

}  // namespace
}  // namespace tbtrace::cupti
