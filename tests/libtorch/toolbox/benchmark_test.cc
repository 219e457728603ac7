// What benchmark() measures and counts, and what it says where it cannot.
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/script.h>
#include <torch/torch.h>

#include <tbtrace/benchmark.h>

#include "libtorch/record/recorded.h"
#include "libtorch/toolbox/speed/energy_meter.h"
#include "published_models.h"

namespace tbtrace {
namespace {

namespace nn = torch::nn;

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// Fast: a run or two, no waiting for steady times.
BenchmarkOptions quick(int runs = 2) {
  BenchmarkOptions options;
  options.warmup = 1;
  options.runs = runs;
  options.min_time_s = 0;
  options.max_spread = 0;
  return options;
}

TEST(LatencyStatistics, AreThoseOfNumpy) {
  // numpy.percentile(range(1, 5), [25, 50, 75]), numpy.std(..., ddof=1)
  const std::vector<double> few = {4, 1, 3, 2};
  const LatencyStatistics statistics = latency_statistics(few);
  EXPECT_EQ(statistics.runs, 4U);
  EXPECT_DOUBLE_EQ(statistics.mean_ns, 2.5);
  EXPECT_DOUBLE_EQ(statistics.std_ns, std::sqrt(5.0 / 3));
  EXPECT_DOUBLE_EQ(statistics.min_ns, 1);
  EXPECT_DOUBLE_EQ(statistics.max_ns, 4);
  EXPECT_DOUBLE_EQ(statistics.p25_ns, 1.75);
  EXPECT_DOUBLE_EQ(statistics.p50_ns, 2.5);
  EXPECT_DOUBLE_EQ(statistics.p75_ns, 3.25);
  EXPECT_DOUBLE_EQ(statistics.spread(), 0.6);
  // The mean of inverses, as pytorch-benchmark has it.
  EXPECT_DOUBLE_EQ(statistics.per_s_mean, 1e9 * (1 + 1.0 / 2 + 1.0 / 3 + 1.0 / 4) / 4);
  EXPECT_DOUBLE_EQ(statistics.per_s_max, 1e9);
  EXPECT_THROW(latency_statistics({}), std::invalid_argument);
}

TEST(LatencyStatistics, HaveTailsFrom100RunsOn) {
  std::vector<double> times(99);
  for (std::size_t at = 0; at < times.size(); ++at) times[at] = static_cast<double>(at);
  EXPECT_FALSE(latency_statistics(times).p90_ns.has_value());
  EXPECT_FALSE(latency_statistics(times).p99_ns.has_value());
  times.push_back(99);
  times.push_back(100);
  EXPECT_DOUBLE_EQ(latency_statistics(times).p90_ns.value(), 90);
  EXPECT_DOUBLE_EQ(latency_statistics(times).p99_ns.value(), 99);
}

TEST(BenchmarkOfAModel, PutsGradientsOfInputsBack) {
  torch::nn::Linear model(4, 4);
  const torch::Tensor input = torch::ones({2, 4}).requires_grad_();
  const BenchmarkOptions once = {.warmup = 0, .runs = 1, .min_time_s = 0, .max_time_s = 0};
  benchmark(model, {input}, once);
  EXPECT_FALSE(input.grad().defined());
  input.mutable_grad() = torch::full({2, 4}, 3.0);
  benchmark(model, {input}, once);
  EXPECT_TRUE(input.grad().equal(torch::full({2, 4}, 3.0)));
}

TEST(Benchmark, CountsForwardAndTraining) {
  const auto model = published::resnet18();
  BenchmarkOptions options = quick(1);
  options.batch_of_one = false;
  const BenchmarkResult result = benchmark(model, {torch::randn({2, 3, 32, 32})}, options);
  EXPECT_EQ(result.device, "cpu");
  EXPECT_EQ(result.parameters, 11689512U);
  EXPECT_EQ(result.trainable_parameters, 11689512U);
  EXPECT_EQ(result.batch_size, 2U);
  const std::uint64_t first = std::uint64_t{2} * 64 * 3 * 7 * 7 * 16 * 16;  // without gradient
  ASSERT_TRUE(result.macs && result.training_macs);
  EXPECT_EQ(*result.training_macs, 3 * *result.macs - first);
  EXPECT_EQ(result.bytes_by_type.at("float32"),
            4 * (11689512U + 2 * 4800U));  // and the statistics of the norms
  EXPECT_EQ(result.bytes_by_type.at("int64"), 8U * 20);
  EXPECT_EQ(result.model_bytes, result.bytes_by_type.at("float32") + 160);
  for (const at::Tensor& parameter : model->parameters()) EXPECT_FALSE(parameter.grad().defined());
  EXPECT_TRUE(model->is_training());
}

// 2 x 64 x 8 bytes of input, 2 x 32 of the first product and 2 x 4 of the second one.
TEST(Benchmark, HasNoFlopsOfWhatRunsOutsideOfOperators) {
  const torch::Tensor tensor = torch::randn({1000, 1000});
  const BenchmarkOptions options = quick();
  const BenchmarkResult compiled = benchmark(
      [&] {
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
        while (std::chrono::steady_clock::now() < end) {
        }
        return tensor.view({-1});
      },
      options);
  EXPECT_FALSE(compiled.flops);
  EXPECT_THAT(compiled.notes, Contains(HasSubstr("in no operator")));
  const BenchmarkResult copies = benchmark([&] { return tensor.clone(); }, options);
  EXPECT_EQ(copies.flops, 0u);
}

TEST(Benchmark, MeasuresMemory) {
  nn::Sequential model(nn::Linear(64, 4096), nn::ReLU(), nn::Linear(4096, 4));
  const torch::Tensor input = torch::randn({256, 64});
  const std::uint64_t hidden = std::uint64_t{256} * 4096 * 4;
  const BenchmarkResult result = benchmark([&] { return model->forward(input); }, quick());
  ASSERT_TRUE(result.peak_memory_bytes && result.saved_activation_bytes);
  EXPECT_EQ(result.result_bytes, 256U * 4 * 4);
  // The first layer's result is gone once ReLU has read it; ReLU's stays for the backward pass.
  EXPECT_GE(*result.saved_activation_bytes, hidden);
  EXPECT_LT(*result.saved_activation_bytes, hidden + hidden / 8);
  EXPECT_GE(*result.peak_memory_bytes, 2 * hidden);
  const torch::NoGradGuard no_grad;
  const BenchmarkResult inference = benchmark([&] { return model->forward(input); }, quick());
  EXPECT_LT(inference.saved_activation_bytes.value(), hidden / 8);
  EXPECT_EQ(inference.training_macs, std::nullopt);
  EXPECT_THAT(inference.notes, Contains(HasSubstr("A training step is not recorded")));
}

TEST(Benchmark, MeasuresTheTimeOfARun) {
  BenchmarkOptions options = quick(12);
  options.batch_size = 4;
  options.tokens = 40;
  const BenchmarkResult result =
      benchmark([] { std::this_thread::sleep_for(std::chrono::milliseconds(3)); }, options);
  EXPECT_EQ(result.latency.runs, 12U);
  EXPECT_GT(result.harness_ns, 0);
  EXPECT_LT(result.harness_ns, 1000);
  EXPECT_GE(result.latency.min_ns, 3e6);
  EXPECT_LT(result.latency.min_ns, 1e7);
  EXPECT_NEAR(result.throughput_per_s, 4e9 / result.latency.p50_ns, 1e-6);
  EXPECT_NEAR(result.tokens_per_s.value(), 40e9 / result.latency.p50_ns, 1e-6);
  EXPECT_FALSE(result.latency.p99_ns.has_value());
  EXPECT_THAT(result.notes, Contains(HasSubstr("p90 and p99 are not recorded")));
}

TEST(Benchmark, RunsForTheLeastTimeAndStops) {
  BenchmarkOptions options = quick(1);
  options.min_time_s = 0.05;
  int calls = 0;
  const auto call = [&] {
    ++calls;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  };
  const BenchmarkResult result = benchmark(call, options);
  EXPECT_GE(result.latency.runs, 10U);
  EXPECT_LE(result.latency.runs, 25U);
  // Never steady: goes on until the longest time.
  options.max_spread = 1e-9;
  options.max_time_s = 0.1;
  options.min_time_s = 0;
  std::uint64_t number = 0;
  const BenchmarkResult longer = benchmark(
      [&] { std::this_thread::sleep_for(std::chrono::milliseconds(++number % 2 == 0 ? 1 : 4)); },
      options);
  EXPECT_GE(longer.latency.mean_ns * static_cast<double>(longer.latency.runs), 0.09e9);
  EXPECT_THAT(longer.notes, Contains(HasSubstr("the middle half of the times spans")));
}

TEST(Benchmark, MeasuresABatchOfOne) {
  nn::Linear model(8, 4);
  const BenchmarkResult result = benchmark(model, {torch::randn({16, 8})}, quick());
  EXPECT_EQ(result.batch_size, 16U);
  EXPECT_EQ(result.macs, 16U * 8 * 4);
  ASSERT_EQ(result.smaller.size(), 1U);
  EXPECT_EQ(result.smaller.front().batch_size, 1U);
  EXPECT_EQ(result.smaller.front().macs, 8U * 4);
  EXPECT_EQ(result.to_device.has_value(), false);
  EXPECT_THAT(result.notes, Contains(HasSubstr("Copies are not recorded")));
}

TEST(Benchmark, TheRateOfATrainingStepIsOfAllThatItDoes) {
  nn::Sequential model(nn::Linear(16, 32), nn::ReLU(), nn::Linear(32, 4));
  const torch::Tensor input = torch::randn({8, 16});
  BenchmarkOptions options = quick();
  options.model = model;
  options.peak_flops_per_s = 1e11;
  const BenchmarkResult result =
      benchmark([&] { model->forward(input).sum().backward(); }, options);
  ASSERT_TRUE(result.flops && result.training_flops && result.flops_per_s && result.mfu);
  EXPECT_GT(*result.training_flops, *result.flops);
  const double median_s = result.latency.p50_ns * 1e-9;
  EXPECT_DOUBLE_EQ(*result.flops_per_s, static_cast<double>(*result.training_flops) / median_s);
  EXPECT_DOUBLE_EQ(*result.mfu, 2 * static_cast<double>(*result.training_macs) / median_s / 1e11);
}

TEST(Benchmark, SamplesThatAreNotTheFirstDimensionHaveNoBatchOfOne) {
  nn::LSTM model(nn::LSTMOptions(4, 4));  // its first dimension is time
  BenchmarkOptions options = quick();
  options.batch_size = 3;
  const BenchmarkResult result = benchmark(
      [&] {
        return std::get<0>(model->forward(torch::randn({20, 3, 4})));
      },
      options);
  EXPECT_THAT(result.smaller, IsEmpty());
  nn::Linear linear(4, 4);
  EXPECT_THAT(benchmark(linear, {torch::randn({20, 3, 4})}, options).smaller, IsEmpty());
  options.batch_size = 0;
  EXPECT_THAT(benchmark(linear, {torch::randn({20, 3, 4})}, options).notes,
              Contains(HasSubstr("(.batch_size)")));
}

TEST(Benchmark, CountsAGivenTrainingStep) {
  nn::Linear model(8, 4);
  torch::optim::SGD optimizer(model->parameters(), 0.1);
  const torch::Tensor input = torch::randn({2, 8});
  BenchmarkOptions options = quick();
  options.model = model;
  options.training_step = [&] {
    optimizer.zero_grad();
    torch::mse_loss(model(input), torch::zeros({2, 4})).backward();
    optimizer.step();
  };
  const BenchmarkResult result = benchmark([&] { return model(input); }, options);
  EXPECT_EQ(result.parameters, 36U);
  EXPECT_EQ(result.macs, 2U * 8 * 4);
  EXPECT_EQ(result.training_macs, 2U * 2 * 8 * 4);
  EXPECT_GT(result.training_flops.value(), 2 * result.training_macs.value());
}

TEST(Benchmark, TakesScriptsAndPeaks) {
  torch::jit::Module script("Net");
  script.register_parameter("weight", torch::randn({4, 8}), false);
  script.define("def forward(self, x):\n  return torch.matmul(x, self.weight.t())\n");
  const torch::Tensor input = torch::randn({2, 8});
  BenchmarkOptions options = quick();
  options.model = script;
  const BenchmarkedModel model = script;
  EXPECT_EQ(model.script(), &script);
  EXPECT_EQ(model.module(), nullptr);
  options.peak_flops_per_s = 1e12;
  const BenchmarkResult result = benchmark([&] { return script.forward({input}); }, options);
  EXPECT_EQ(result.parameters, 32U);
  EXPECT_EQ(result.macs, 2U * 8 * 4);
  EXPECT_NEAR(result.mfu.value(), 2.0 * 64 / (result.latency.p50_ns * 1e-9) / 1e12, 1e-12);
  EXPECT_NEAR(result.flops_per_s.value(), 128 / (result.latency.p50_ns * 1e-9), 1);
}

TEST(Benchmark, WritesTextJsonAndYaml) {
  nn::Linear model(8, 4);
  BenchmarkOptions options = quick(100);
  const BenchmarkResult result = benchmark(model, {torch::randn({16, 8})}, options);
  std::ostringstream text;
  text << result;
  EXPECT_THAT(text.str(), AllOf(HasSubstr("Batch of 1\n"), HasSubstr("Batch of 16\n"),
                                HasSubstr("p99 "), HasSubstr("not recorded")));
  EXPECT_THAT(
      result.json(),
      AllOf(HasSubstr("{\"schema\": \"tbtrace.benchmark/1\", \"device\": \"cpu\""),
            HasSubstr("\"macs\": 512"), HasSubstr("\"energy_j\": null"),
            HasSubstr("\"operations\": \"counted\""), HasSubstr("\"energy\": \"not recorded\"")));
  EXPECT_THAT(
      result.yaml(),
      AllOf(HasSubstr("device: cpu\n"), HasSubstr("\nflops: 32\n"), HasSubstr("\nparams: 36\n"),
            HasSubstr("\ntiming:\n  batch_size_1:\n    on_device_inference:\n"
                      "      human_readable:\n        batch_latency: \""),
            HasSubstr("\n        seconds_per_batch_mean: "), HasSubstr("    max_inference_bytes: "),
            Not(HasSubstr("energy"))));
}

TEST(Benchmark, RefusesWrongOptions) {
  const auto nothing = [] {};
  BenchmarkOptions options = quick();
  options.runs = 0;
  EXPECT_THROW(benchmark(nothing, options), std::invalid_argument);
  options = quick();
  options.max_time_s = -1;
  EXPECT_THROW(benchmark(nothing, options), std::invalid_argument);
  options = quick();
  options.peak_flops_per_s = 0;
  EXPECT_THROW(benchmark(nothing, options), std::invalid_argument);
  nn::Linear model(8, 4);
  EXPECT_THROW(benchmark(model, std::vector<at::Tensor>{}, quick()), std::invalid_argument);
  EXPECT_THROW(benchmark(model, {torch::randn({2, 5})}, quick()), c10::Error);
  EXPECT_TRUE(model->is_training());
}

/// A counter in a folder like Linux's.
void write_counter(const std::string& folder, const char* name, std::uint64_t microjoules) {
  const std::filesystem::path path = std::filesystem::path(folder) / name;
  std::filesystem::create_directories(path);
  std::ofstream(path / "max_energy_range_uj") << 1'000'000'000;
  std::ofstream(path / "energy_uj") << microjoules;
}

TEST(EnergyMeter, AddsPackagesAndKnowsTheirLimit) {
  const testing::Folder folder;
  write_counter(folder.path(), "intel-rapl:0", 999'000'000);
  write_counter(folder.path(), "intel-rapl:0:0", 5);  // a part of the package
  write_counter(folder.path(), "intel-rapl:1", 1'000'000);
  const auto meter = libtorch::cpu_energy_meter(folder.path());
  ASSERT_TRUE(meter.ok());
  EXPECT_DOUBLE_EQ(meter->joules(), 0);
  write_counter(folder.path(), "intel-rapl:0", 2'000'000);
  write_counter(folder.path(), "intel-rapl:1", 4'500'000);
  EXPECT_DOUBLE_EQ(meter->joules(), 3 + 3.5);
  EXPECT_DOUBLE_EQ(meter->joules(), 3 + 3.5);
}

TEST(EnergyMeter, SaysWhyThereIsNone) {
  const testing::Folder folder;
  EXPECT_THAT(libtorch::cpu_energy_meter(folder.path()).status().message(),
              HasSubstr("has no energy counters"));
  EXPECT_THAT(libtorch::cpu_energy_meter(folder / "nowhere").status().message(),
              HasSubstr("has no energy counters"));
}

}  // namespace
}  // namespace tbtrace
