#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <c10/core/CPUAllocator.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <tbtrace/profiler.h>

#include "libtorch/record/recorded.h"
#include "libtorch/record/torch_version.h"

namespace tbtrace {
namespace {

using ::testing::ElementsAre;

std::vector<std::int64_t> recorded_bytes(Profiler& profiler) {
  const testing::Folder folder;
  EXPECT_TRUE(profiler.export_chrome_trace(folder / "trace.json").ok());
  const Result<Trace> trace = read_trace(folder / "trace.json");
  EXPECT_TRUE(trace.ok());
  std::vector<std::int64_t> bytes;
  for (const MemoryRecord& record : trace->memory()) bytes.push_back(record.bytes);
  return bytes;
}

const ProfilerOptions kMemory = {.activities = {Activity::cpu}, .profile_memory = true};

TEST(MemoryWatch, TellsAllocationsAndFrees) {
  const torch::Tensor before = torch::ones({100});
  Profiler profiler(kMemory);
  profiler.start();
  {
    const torch::Tensor a = torch::empty({10});
    const torch::Tensor b = torch::empty({3}, torch::kInt64);
    const torch::Tensor nothing = torch::empty({0});
  }
  profiler.stop();
  EXPECT_THAT(recorded_bytes(profiler), ElementsAre(40, 24, -24, -40));
}

TEST(MemoryWatch, BlocksOfTheTimeBeforeAreFreedAsEver) {
  std::optional<torch::Tensor> before = torch::empty({10});
  Profiler profiler(kMemory);
  profiler.start();
  before.reset();
  profiler.stop();
  EXPECT_THAT(recorded_bytes(profiler), ElementsAre());
}

TEST(MemoryWatch, BlocksOutliveTheRecording) {
  std::vector<torch::Tensor> kept;
  for (int round = 0; round < 3; ++round) {
    Profiler profiler(kMemory);
    profiler.start();
    for (int times = 0; times < 5000; ++times) kept.push_back(torch::empty({1 + times % 7}));
    profiler.stop();
  }
  std::thread([&] { kept.clear(); }).join();
  Profiler profiler(kMemory);
  profiler.start();
  const torch::Tensor last = torch::empty({10});
  profiler.stop();
  EXPECT_THAT(recorded_bytes(profiler), ElementsAre(40));
}

TEST(MemoryWatch, ABlockMayBeFreedByAnotherThread) {
  Profiler profiler({.activities = {Activity::cpu}, .profile_memory = true, .all_threads = true});
  profiler.start();
  torch::Tensor block = torch::empty({10});
  std::thread([moved = std::move(block)]() mutable { moved.reset(); }).join();
  profiler.stop();
  EXPECT_THAT(recorded_bytes(profiler), ElementsAre(40, -40));
}

TEST(MemoryWatch, RawAllocationsAreToldToo) {
  Profiler profiler(kMemory);
  void* const before = c10::GetCPUAllocator()->raw_allocate(8);
  profiler.start();
  c10::Allocator& allocator = *c10::GetCPUAllocator();
  allocator.raw_deallocate(before);
  void* const block = allocator.raw_allocate(16);
  allocator.raw_deallocate(block);
  allocator.raw_deallocate(nullptr);
  profiler.stop();
  EXPECT_THAT(recorded_bytes(profiler), ElementsAre(16, -16));
}

TEST(MemoryWatch, TheAllocatorIsTheOldOneAfterwards) {
  c10::Allocator* const before = c10::GetCPUAllocator();
  Profiler profiler(kMemory);
  profiler.start();
  EXPECT_NE(c10::GetCPUAllocator(), before);
  profiler.stop();
  EXPECT_EQ(c10::GetCPUAllocator(), before);
}

/// Hands on what the allocator before gives.
class ProgramsAllocator : public c10::Allocator {
 public:
  explicit ProgramsAllocator(c10::Allocator* below) : below_(below) {}

#if TBTRACE_TORCH_AT_LEAST(2, 0)
  c10::DataPtr allocate(std::size_t bytes) override { return below_->allocate(bytes); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    below_->copy_data(to, from, bytes);
  }
#else
  c10::DataPtr allocate(std::size_t bytes) const override { return below_->allocate(bytes); }
#endif

 private:
  c10::Allocator* below_;
};

TEST(MemoryWatch, TheProgramMaySetItsAllocatorLater) {
  {
    Profiler profiler(kMemory);
    profiler.start();
    profiler.stop();
  }
  c10::Allocator* const before = c10::GetCPUAllocator();
  ProgramsAllocator programs(before);
  c10::SetCPUAllocator(&programs);
  EXPECT_EQ(c10::GetCPUAllocator(), &programs);
  {
    Profiler profiler(kMemory);
    profiler.start();
    const torch::Tensor block = torch::empty({10});
    profiler.stop();
    EXPECT_THAT(recorded_bytes(profiler), ElementsAre(40));
  }
  EXPECT_EQ(c10::GetCPUAllocator(), &programs);
  c10::SetCPUAllocator(before);
  EXPECT_EQ(c10::GetCPUAllocator(), before);
}

TEST(MemoryWatch, TheTotalOfAnInnerProfilerHasWhatTheOuterOneCounted) {
  Profiler outer(kMemory);
  Profiler inner(kMemory);
  outer.start();
  std::optional<torch::Tensor> block = torch::empty({1000});
  inner.start();
  block.reset();
  inner.stop();
  outer.stop();
  const auto trace = inner.trace();
  ASSERT_NE(trace, nullptr);
  ASSERT_EQ(trace->memory().size(), 1U);
  EXPECT_EQ(trace->memory()[0].bytes, -4000);
  EXPECT_GE(trace->memory()[0].total_allocated_bytes, 0);
}

/// Frees by way of the allocator that it is above.
class ProgramsAllocatorThatFrees final : public ProgramsAllocator {
 public:
  explicit ProgramsAllocatorThatFrees(c10::Allocator* below) : ProgramsAllocator(below) {
    freed_by = below;
  }
  c10::DeleterFnPtr raw_deleter() const override {
    return [](void* data) { freed_by->raw_deallocate(data); };
  }

 private:
  static inline c10::Allocator* freed_by = nullptr;
};

/// It is above ours then, and from the next window on below another one of ours.
TEST(MemoryWatch, TheProgramMaySetItsAllocatorDuringAWindow) {
  c10::Allocator* const before = c10::GetCPUAllocator();
  void* const early = before->raw_allocate(8);
  Profiler profiler(kMemory);
  profiler.start();
  ProgramsAllocatorThatFrees programs(c10::GetCPUAllocator());
  c10::SetCPUAllocator(&programs);
  profiler.stop();
  ASSERT_EQ(c10::GetCPUAllocator(), &programs);
  profiler.start();
  { const torch::Tensor block = torch::empty({10}); }
  c10::GetCPUAllocator()->raw_deallocate(early);
  profiler.stop();
  EXPECT_THAT(recorded_bytes(profiler), ElementsAre(40, -40));
  c10::SetCPUAllocator(before);
}

TEST(MemoryWatch, IsIndependentOfOperators) {
  for (const bool all_threads : {false, true}) {
    ProfilerOptions options = kMemory;
    options.activities = {Activity::cuda};
    options.all_threads = all_threads;
    options.experimental.on_warning = [](std::string_view) {};  // there may be no GPU
    Profiler profiler(options);
    profiler.start();
    { const torch::Tensor block = torch::empty({10}); }
    profiler.stop();
    EXPECT_THAT(recorded_bytes(profiler), ElementsAre(40, -40));
    EXPECT_EQ(testing::count(profiler, "aten::empty"), 0);
  }
}

}  // namespace
}  // namespace tbtrace
