// MemoryReporter and the memory of lines on a GPU, beside LibTorch's allocator and plain sums.
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <c10/cuda/CUDACachingAllocator.h>
#include <torch/torch.h>

#include <tbtrace/memory_reporter.h>

#include "../../examples/published_models.h"
#include "models.h"
#include "parts.h"

// What the lines of this file allocate is known by the statement. Outside of tbtrace, whose frames
// are left out.
namespace counted_program {

namespace allocator = c10::cuda::CUDACachingAllocator;

struct Counted {
  double line = 0;
  double allocated = 0;
  double freed = 0;
  double peak = 0;  ///< of the device, by anyone, during the line
};

struct Totals {
  std::int64_t allocated = 0;
  std::int64_t freed = 0;
  std::int64_t peak = 0;
};

Totals totals() {
  const auto bytes = allocator::getDeviceStats(0).allocated_bytes[0];
  return {bytes.allocated, bytes.freed, bytes.peak};
}

/// The statement on a line, and what the allocator's counters say of it.
#define COUNTED(...)                                                                           \
  allocator::resetPeakStats(0);                                                                \
  before = totals();                                                                           \
  __VA_ARGS__;                                                                                 \
  after = totals();                                                                            \
  asm volatile("" ::: "memory");                                                               \
  counted.push_back(                                                                           \
      {static_cast<double>(__LINE__), static_cast<double>(after.allocated - before.allocated), \
       static_cast<double>(after.freed - before.freed), static_cast<double>(after.peak)})

std::vector<torch::Tensor> leaked;

[[gnu::noinline]] std::vector<Counted> step() {
  const torch::NoGradGuard no_gradients;
  const auto gpu = torch::TensorOptions().device(torch::kCUDA);
  std::vector<Counted> counted;
  Totals before;
  Totals after;
  torch::Tensor image, weight, hidden, scores, order;
  COUNTED(image = torch::empty({64, 1000, 100}, gpu));
  COUNTED(image.fill_(0.5));
  COUNTED(weight = torch::ones({100, 300}, gpu));
  COUNTED(hidden = torch::matmul(image, weight));
  COUNTED(hidden = torch::relu(hidden));
  COUNTED(image = torch::Tensor());
  COUNTED(scores = torch::softmax(hidden, 2));
  COUNTED(hidden = scores.slice(1, 0, 10).contiguous());
  COUNTED(order = std::get<1>(hidden.sort(1)));
  COUNTED(scores = scores.to(torch::kHalf));
  COUNTED(leaked.push_back(torch::empty({300, 1000}, gpu)));
  return counted;
}
#undef COUNTED

}  // namespace counted_program

namespace gpu_checks {

namespace {

namespace allocator = c10::cuda::CUDACachingAllocator;

/// Each storage once.
double bytes_of(const std::vector<torch::Tensor>& tensors) {
  double sum = 0;
  for (const torch::Tensor& tensor : tensors) {
    if (tensor.defined()) sum += static_cast<double>(tensor.numel() * tensor.element_size());
  }
  return sum;
}

}  // namespace

void toolbox_memory(const Arguments& arguments, Figures& figures) {
  auto model = published::resnet18();
  model->to(device());
  torch::optim::AdamW optimizer(model->parameters(), torch::optim::AdamWOptions(1e-4));
  tbtrace::MemoryReporter reporter(model);
  reporter.add(optimizer);
  reporter.report();
  const torch::Tensor images = torch::rand({8, 3, 224, 224}).to(device());
  model->forward(images).sum().backward();
  optimizer.step();
  reporter.step();
  wait_for_gpu();
  const auto stats = allocator::getDeviceStats(0);
  const tbtrace::MemoryReport report = reporter.report();
  std::ofstream(arguments.path("reporter.json")) << report.json();
  std::ofstream(arguments.path("reporter.txt")) << report;
  figures.add("allocated", static_cast<double>(stats.allocated_bytes[0].current));
  figures.add("reserved", static_cast<double>(stats.reserved_bytes[0].current));
  std::vector<torch::Tensor> gradients;
  std::vector<torch::Tensor> states;
  double state_bytes_on_gpu = 0;
  for (const torch::Tensor& parameter : model->parameters()) gradients.push_back(parameter.grad());
  for (const auto& [key, state] : optimizer.state()) {
    const auto& adam = static_cast<const torch::optim::AdamWParamState&>(*state);
    states.push_back(adam.exp_avg());
    states.push_back(adam.exp_avg_sq());
  }
  for (const torch::Tensor& state : states) {
    state_bytes_on_gpu += state.is_cuda() ? bytes_of({state}) : 0;
  }
  figures.add("parameter", bytes_of(model->parameters()));
  figures.add("buffer", bytes_of(model->buffers()));
  figures.add("gradient", bytes_of(gradients));
  figures.add("optimizer_state", bytes_of(states));
  figures.add("optimizer_state_on_gpu", state_bytes_on_gpu);
}

void toolbox_lines(const Arguments& arguments, Figures& figures) {
  constexpr int kSteps = 3;
  const torch::Tensor first = torch::zeros({1}).to(device());  // the allocator has devices from now
  counted_program::step();                                     // what LibTorch allocates once
  std::vector<std::string> warnings;
  tbtrace::ProfilerOptions options = both_activities();
  options.schedule = tbtrace::schedule({.wait = 0, .warmup = 0, .active = kSteps, .repeat = 1});
  options.profile_memory = true;
  options.with_stack = true;
  options.experimental.on_warning = [&](std::string_view sentence) {
    warnings.emplace_back(sentence);
  };
  tbtrace::Profiler profiler(std::move(options));
  std::vector<double> lines;
  std::vector<double> allocated;
  std::vector<double> freed;
  std::vector<double> peaks;
  wait_for_gpu();
  profiler.start();
  const counted_program::Totals before = counted_program::totals();
  for (int step = 0; step < kSteps; ++step) {
    for (const counted_program::Counted& counted : counted_program::step()) {
      lines.push_back(counted.line);
      allocated.push_back(counted.allocated);
      freed.push_back(counted.freed);
      peaks.push_back(counted.peak);
    }
    profiler.step();
  }
  const counted_program::Totals after = counted_program::totals();
  profiler.stop();
  const tbtrace::Status written = profiler.export_chrome_trace(arguments.path("lines.json"));
  if (!written.ok()) throw std::runtime_error(written.message());
  figures.add("steps", kSteps);
  figures.add("lines", lines);
  figures.add("allocated", allocated);
  figures.add("freed", freed);
  figures.add("peaks", peaks);
  figures.add("all_allocated", static_cast<double>(after.allocated - before.allocated));
  figures.add("all_freed", static_cast<double>(after.freed - before.freed));
  figures.add("warnings", warnings);
}

}  // namespace gpu_checks
