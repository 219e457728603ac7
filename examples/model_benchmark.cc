// How fast a model runs, and what a run needs.
#include <iostream>

#include <torch/torch.h>

#include <tbtrace/benchmark.h>

int main() {
  namespace nn = torch::nn;
  nn::Sequential model(nn::Linear(256, 1024), nn::ReLU(), nn::Linear(1024, 10));
  const tbtrace::BenchmarkResult result =
      tbtrace::benchmark(model, {torch::randn({16, 256})},
                         {.warmup = 10, .runs = 100, .min_time_s = 0.1, .max_time_s = 0.2});
  std::cout << result;
}
