// Calls that benchmarks/toolbox.py measures by tbtrace::benchmark() and by torch.utils.benchmark.
//   tbtrace_benchmark_calls NAME   prints the median of a call, in ns
//   tbtrace_benchmark_calls cost   prints what measuring adds to a call, in ns
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <torch/torch.h>

#include <tbtrace/benchmark.h>

namespace {

using Clock = std::chrono::steady_clock;

std::int64_t median_of(std::vector<std::int64_t> values) {
  std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
  return values[values.size() / 2];
}

/// The median time of a short call by benchmark(), less that by two readings of the clock.
std::int64_t cost() {
  volatile std::uint64_t sink = 0;
  const auto call = [&] {
    for (std::uint64_t at = 0; at < 1000; ++at) sink = sink + at;
  };
  std::vector<std::int64_t> differences;
  for (int round = 0; round < 9; ++round) {
    std::vector<std::int64_t> bare;
    for (int run = 0; run < 2000; ++run) {
      const Clock::time_point before = Clock::now();
      call();
      bare.push_back((Clock::now() - before).count());
    }
    const tbtrace::BenchmarkResult result =
        tbtrace::benchmark(call, {.warmup = 10, .runs = 2000, .min_time_s = 0, .max_time_s = 1});
    differences.push_back(std::llround(result.latency.p50_ns) - median_of(bare));
  }
  return median_of(differences);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  torch::manual_seed(0);
  torch::set_num_threads(1);
  const torch::Tensor wide = torch::randn({2000, 8000});
  const torch::Tensor square = torch::randn({768, 768});
  const torch::Tensor numbers = torch::randn({512, 512});
  const torch::Tensor images = torch::randn({4, 16, 96, 96});
  const torch::Tensor filters = torch::randn({32, 16, 3, 3});
  // Calls write into memory that is there, so that allocators are not compared.
  torch::Tensor result = torch::empty_like(wide);
  torch::Tensor transposed = torch::empty({8000, 2000});
  torch::Tensor product = torch::empty_like(square);
  torch::Tensor sorted = torch::empty_like(numbers);
  torch::Tensor order = torch::empty({512, 512}, torch::kLong);
  const torch::Tensor rows = torch::arange(1999, -1, -1);
  const std::map<std::string, std::function<torch::Tensor()>> calls = {
      {"add", [&] { return torch::add_out(result, wide, wide); }},
      {"convolution", [&] { return torch::conv2d(images, filters); }},
      {"cumsum", [&] { return torch::cumsum_out(result, wide, 1); }},
      {"exp", [&] { return torch::exp_out(result, wide); }},
      {"index_select", [&] { return torch::index_select_out(result, wide, 0, rows); }},
      {"matmul", [&] { return torch::matmul_out(product, square, square); }},
      {"softmax", [&] { return torch::softmax_out(result, wide, 1); }},
      {"sort", [&] { return std::get<0>(torch::sort_out(sorted, order, numbers)); }},
      {"tanh", [&] { return torch::tanh_out(result, wide); }},
      {"transpose", [&] { return transposed.copy_(wide.t()); }},
  };
  const std::string name = argv[1];
  if (name == "cost") {
    std::cout << cost() << '\n';
    return 0;
  }
  const auto found = calls.find(name);
  if (found == calls.end()) return 2;
  const torch::NoGradGuard no_gradients;
  std::cout << tbtrace::benchmark(found->second,
                                  {.warmup = 3, .runs = 10, .min_time_s = 0.3, .max_time_s = 0.6})
                   .latency.p50_ns
            << '\n';
}
