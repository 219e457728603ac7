// What each line of a program allocated, beside what an allocator of the program counted.
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <c10/core/CPUAllocator.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <tbtrace/lines.h>
#include <tbtrace/profiler.h>

#include "libtorch/record/torch_version.h"

// Outside of tbtrace, whose frames are left out.
namespace counted_program {

/// Counts by the line that the program says it is at.
class CountingAllocator final : public c10::Allocator {
 public:
  explicit CountingAllocator(c10::Allocator* below) : below_(below) {}

#if TBTRACE_TORCH_AT_LEAST(2, 0)
  c10::DataPtr allocate(std::size_t bytes) override { return counted(bytes); }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    below_->copy_data(to, from, bytes);
  }
#else
  c10::DataPtr allocate(std::size_t bytes) const override { return counted(bytes); }
#endif

  static inline int line = 0;
  static inline bool is_on = false;
  static inline std::map<int, std::int64_t> allocated;
  static inline std::int64_t freed = 0;

 private:
  struct Block {
    c10::DataPtr memory;
    std::int64_t bytes = 0;
  };

  /// Its context is its address, as in other allocators of the CPU.
  c10::DataPtr counted(std::size_t bytes) const {
    c10::DataPtr memory = below_->allocate(bytes);
    if (!is_on) return memory;
    void* const data = memory.get();
    allocated[line] += static_cast<std::int64_t>(bytes);
    if (data == nullptr) return memory;
    blocks[data] = {std::move(memory), static_cast<std::int64_t>(bytes)};
    return {data, data, free, c10::Device(c10::DeviceType::CPU)};
  }

  static void free(void* data) {
    const auto block = blocks.extract(data);
    if (is_on && !block.empty()) freed += block.mapped().bytes;
  }

  static inline std::map<void*, Block> blocks;
  c10::Allocator* below_;
};

/// The statement, on its own line also for the compiler.
#define TBTRACE_COUNTED(...)          \
  CountingAllocator::line = __LINE__; \
  __VA_ARGS__;                        \
  asm volatile("" ::: "memory")

std::vector<torch::Tensor> leaked;
int line_of_leak = 0;

[[gnu::noinline]] void step() {
  namespace F = torch::nn::functional;
  const torch::NoGradGuard no_gradients;
  torch::Tensor image, weight, hidden, scores, order, mask, picked, table, sum;
  TBTRACE_COUNTED(image = torch::rand({4, 3, 16, 16}));
  TBTRACE_COUNTED(weight = torch::ones({4, 8, 27}));
  TBTRACE_COUNTED(hidden = torch::im2col(image, {3, 3}, {1, 1}, {0, 0}, {1, 1}));
  TBTRACE_COUNTED(hidden = torch::bmm(weight, hidden).relu().unsqueeze(1));
  TBTRACE_COUNTED(hidden = torch::max_pool2d(hidden, 2));
  TBTRACE_COUNTED(hidden = hidden.flatten(1));
  TBTRACE_COUNTED(weight = torch::full({10, hidden.size(1)}, 0.01));
  TBTRACE_COUNTED(scores = torch::matmul(hidden, weight.t()));
  TBTRACE_COUNTED(scores = torch::log_softmax(scores, 1));
  TBTRACE_COUNTED(order = std::get<1>(scores.sort(1)));
  TBTRACE_COUNTED(mask = scores > -2);
  TBTRACE_COUNTED(picked = scores.masked_select(mask));
  TBTRACE_COUNTED(table = torch::zeros({50, 6}, torch::kFloat64));
  TBTRACE_COUNTED(picked = table.index_select(0, order.flatten()));
  TBTRACE_COUNTED(picked = torch::cat({picked, picked}));
  TBTRACE_COUNTED(picked.add_(1));
  TBTRACE_COUNTED(sum = picked.sum());
  TBTRACE_COUNTED(sum = torch::stack({sum, sum, sum}));
  TBTRACE_COUNTED(sum = F::pad(sum, F::PadFuncOptions({1, 2})));
  TBTRACE_COUNTED(table = table.to(torch::kFloat16));
  line_of_leak = __LINE__ + 1;
  TBTRACE_COUNTED(leaked.push_back(torch::empty({1024, 256})));
  CountingAllocator::line = 0;
}

}  // namespace counted_program

namespace tbtrace {
namespace {

#ifdef TBTRACE_KNOWS_LINES
TEST(LineMemoryOfAProgram, IsWhatItsAllocatorCounted) {
  using counted_program::CountingAllocator;
  constexpr int kSteps = 4;
  c10::Allocator* const before = c10::GetCPUAllocator();
  CountingAllocator counting(before);
  c10::SetCPUAllocator(&counting);
  torch::manual_seed(1);
  counted_program::step();  // what LibTorch allocates once
  Profiler profiler({.activities = {Activity::cpu},
                     .schedule = schedule({.wait = 0, .warmup = 0, .active = kSteps, .repeat = 1}),
                     .profile_memory = true,
                     .with_stack = true});
  CountingAllocator::is_on = true;
  profiler.start();
  for (int step = 0; step < kSteps; ++step) {
    counted_program::step();
    profiler.step();
  }
  profiler.stop();
  CountingAllocator::is_on = false;
  c10::SetCPUAllocator(before);

  const auto trace = profiler.trace();
  ASSERT_NE(trace, nullptr);
  const Result<LineMemory> memory = line_memory(*trace);
  ASSERT_TRUE(memory.ok()) << memory.status().message();
  ASSERT_EQ(memory->devices.size(), 1U);
  const DeviceLineMemory& host = memory->devices[0];
  std::map<int, std::int64_t> allocated;
  std::int64_t freed = host.unattributed.freed_bytes;
  const LineMemoryRow* most_growth = nullptr;
  for (const LineMemoryRow& row : host.lines) {
    freed += row.self.freed_bytes;
    if (row.function.find("counted_program::step") == std::string::npos) continue;
    EXPECT_TRUE(row.file.ends_with("line_memory_test.cc")) << row.file;
    allocated[static_cast<int>(row.line)] = row.total.allocated_bytes;
    const bool is_most = most_growth == nullptr ||
                         row.self_growth_per_step_bytes > most_growth->self_growth_per_step_bytes;
    if (is_most) most_growth = &row;
  }
  std::map<int, std::int64_t> counted = CountingAllocator::allocated;
  std::erase_if(counted, [](const auto& line) { return line.second == 0; });
  EXPECT_GT(counted.size(), 15U);
  std::erase_if(allocated, [](const auto& line) { return line.second == 0; });
  EXPECT_EQ(allocated, counted);
  EXPECT_EQ(freed, CountingAllocator::freed);
  EXPECT_EQ(host.total.freed_bytes, CountingAllocator::freed);

  ASSERT_NE(most_growth, nullptr);
  EXPECT_EQ(most_growth->line, counted_program::line_of_leak);
  EXPECT_EQ(most_growth->self_growth_per_step_bytes, std::int64_t{1} << 20);
  EXPECT_EQ(host.lines.front().line, counted_program::line_of_leak) << "it held the peak";
  counted_program::leaked.clear();
}
#endif

}  // namespace
}  // namespace tbtrace
