// Records itself, built without NDEBUG, which LibTorch is built with.
#include <iostream>

#include <torch/torch.h>

#include <tbtrace/benchmark.h>
#include <tbtrace/memory_reporter.h>
#include <tbtrace/model_summary.h>
#include <tbtrace/profiler.h>

#ifdef NDEBUG
#error "this is to be a build with assertions"
#endif

int main() {
  tbtrace::Profiler profiler({.record_shapes = true, .profile_memory = true});
  profiler.start();
  {
    const tbtrace::record_function range("forward");
    torch::mm(torch::ones({2, 3}), torch::ones({3, 4}));
  }
  profiler.stop();
  std::cout << profiler.key_averages({.group_by_input_shape = true}).table({.row_limit = -1});
  torch::nn::Linear model(3, 4);
  const tbtrace::ModelSummary costs = tbtrace::model_summary(model, {torch::ones({2, 3})});
  const tbtrace::BenchmarkResult speed = tbtrace::benchmark(
      model, {torch::ones({2, 3})}, {.runs = 1, .min_time_s = 0, .max_time_s = 0});
  const tbtrace::MemoryReport held = tbtrace::MemoryReporter(model).report();
  return costs.total().macs == 24U && speed.macs == 24U && held.total_bytes() == 64 ? 0 : 1;
}
