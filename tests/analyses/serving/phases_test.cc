#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/serving.h>

#include "fixtures/trace_rows.h"

namespace tbtrace {
namespace {

using fixtures::add;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

constexpr std::int64_t kUs = 1000;

void add_step(TraceBuilder& builder, std::string_view name, std::int64_t start_us,
              std::int64_t duration_us, std::uint32_t thread = 1) {
  add(builder, {.category = "user_annotation",
                .name = name,
                .start = start_us * kUs,
                .duration = duration_us * kUs,
                .thread = thread});
}

void add_kernel(TraceBuilder& builder, std::string_view name, std::int64_t start_us,
                std::int64_t duration_us, std::int64_t correlation) {
  add(builder, {.category = "kernel",
                .name = name,
                .start = start_us * kUs,
                .duration = duration_us * kUs,
                .thread = 7,
                .process = 0,
                .correlation = correlation});
}

void add_launch(TraceBuilder& builder, std::int64_t start_us, std::int64_t correlation) {
  add(builder, {.category = "cuda_runtime",
                .name = "cudaGraphLaunch",
                .start = start_us * kUs,
                .duration = 5 * kUs,
                .correlation = correlation});
}

std::string decode_of(int requests) { return "step[DECODE bs=" + std::to_string(requests) + "]"; }

/// A prefill, and three decodes with a graph of two kernels each; a gap of 10 us before each.
Trace of_engine() {
  TraceBuilder builder;
  add_step(builder, "step[EXTEND bs=1 toks=512]", 0, 90);
  add_launch(builder, 5, 1);
  add_kernel(builder, "gemm", 20, 60, 1);
  for (int step = 0; step < 3; ++step) {
    const std::int64_t start = 100 + 100 * step;
    add_step(builder, decode_of(step == 2 ? 4 : 8), start, 90);
    add_launch(builder, start + 5, 2 + step);
    add_kernel(builder, "attention", start + 20, 20, 2 + step);
    add_kernel(builder, "gemm", start + 50, 10 + step, 2 + step);
  }
  return fixtures::finished(builder);
}

std::vector<std::string> kinds(const ServingPhases& phases) {
  std::vector<std::string> all;
  for (const ServingPhase& phase : phases.phases) {
    all.push_back(phase.kind + " x " + std::to_string(phase.steps));
  }
  return all;
}

TEST(ServingPhases, AreByKindAndBatch) {
  const Trace trace = of_engine();
  const ServingPhases phases = serving_phases(trace);
  EXPECT_THAT(kinds(phases), ElementsAre("prefill x 1", "decode x 1", "decode x 2"));
  EXPECT_THAT(phases.phases[1].requests, Optional(4));
  const ServingPhase& decode = phases.phases[2];
  EXPECT_THAT(decode.requests, Optional(8));
  EXPECT_EQ(decode.duration_ns, 180 * kUs);
  EXPECT_EQ(decode.duration_median_ns, 90 * kUs);
  EXPECT_THAT(decode.tokens, Optional(16));
  EXPECT_EQ(decode.gap_ns, 20 * kUs);
  EXPECT_THAT(decode.tokens_per_s(), Optional(testing::DoubleEq(16 / 200e-6)));
  EXPECT_DOUBLE_EQ(decode.gpu_utilization(), 61.0 / 180);
  EXPECT_EQ(decode.kernel_ns, (20 + 10 + 20 + 11) * kUs);
  EXPECT_EQ(decode.gap_median_ns, 10 * kUs);
  EXPECT_EQ(decode.host_median_ns, 90 * kUs);
  EXPECT_EQ(decode.launches, 2);  // each of a graph with two kernels
  EXPECT_EQ(decode.launch_ns, 10 * kUs);
  EXPECT_EQ(decode.kernel, "attention");
  EXPECT_EQ(decode.kernel_total_ns, 40 * kUs);
  EXPECT_EQ(decode.kernels_total_ns, 61 * kUs);
}

TEST(ServingPhases, OfAllBatchesOfAKindAreTogether) {
  const Trace trace = of_engine();
  const ServingPhases phases = serving_phases(trace, {.by_batch = false});
  EXPECT_THAT(kinds(phases), ElementsAre("prefill x 1", "decode x 3"));
  EXPECT_THAT(phases.phases[1].tokens, Optional(20));
  EXPECT_EQ(phases.phases[1].requests, std::nullopt);
}

TEST(ServingPhases, HaveNoTokensIfOneNameDoesNotSayThem) {
  TraceBuilder builder;
  add_step(builder, "step[MIXED bs=2]", 0, 10);
  add_step(builder, "step[MIXED bs=2 c=1 g=1 c_sq=5 g_sq=1]", 10, 10);
  const Trace trace = fixtures::finished(builder);
  const ServingPhases phases = serving_phases(trace);
  ASSERT_EQ(phases.phases.size(), 1);
  EXPECT_EQ(phases.phases[0].tokens, std::nullopt);
  EXPECT_EQ(phases.phases[0].tokens_per_s(), std::nullopt);
}

TEST(ServingPhases, OfTheSteadyStateAreTheLongestRunOfLargeBatches) {
  TraceBuilder builder;
  const std::vector<int> batches = {1, 30, 31, 32, 31, 30, 32, 8, 32, 32, 4};
  for (std::size_t step = 0; step < batches.size(); ++step) {
    add_step(builder, decode_of(batches[step]), 10 * static_cast<std::int64_t>(step), 8);
  }
  const Trace trace = fixtures::finished(builder);
  const ServingPhases steady = serving_phases(trace, {.by_batch = false, .only_steady = true});
  ASSERT_TRUE(steady.steady);
  EXPECT_EQ(steady.steady->first, 1);
  EXPECT_EQ(steady.steady->last, 6);
  EXPECT_THAT(kinds(steady), ElementsAre("decode x 6"));
  EXPECT_EQ(steady.steps, batches.size());
}

/// The device runs behind the host: a step begins there when the one before has ended.
TEST(ServingPhases, OfChosenStepsHaveTheTimesOfTheWholeRecording) {
  TraceBuilder builder;
  for (int step = 0; step < 5; ++step) {
    add_step(builder, decode_of(8), 20 * step, 20);
    add_launch(builder, 20 * step + 5, 1 + step);
    add_kernel(builder, "gemm", 100 + 200 * step, 200, 1 + step);
  }
  const Trace trace = fixtures::finished(builder);
  const ServingPhases chosen = serving_phases(trace, {.steps = StepRange{2, 3}});
  ASSERT_EQ(chosen.phases.size(), 1);
  EXPECT_EQ(chosen.phases[0].steps, 2);
  EXPECT_EQ(chosen.phases[0].duration_ns, 400 * kUs);
  EXPECT_EQ(chosen.phases[0].kernel_ns, 400 * kUs);
}

TEST(ServingPhases, WithoutASteadyStateAreOfAllSteps) {
  const Trace trace = of_engine();
  const ServingPhases phases = serving_phases(trace, {.only_steady = true});
  EXPECT_EQ(phases.steady, std::nullopt);
  EXPECT_EQ(kinds(phases).size(), 3);
}

/// The profiler's steps follow each other; the engine rests for 20 us between its iterations.
TEST(ServingPhases, OfIterationsInStepsOfTheProfilerHaveTheirGaps) {
  const auto made = [](bool has_second) {
    TraceBuilder builder;
    for (int step = 0; step < 4; ++step) {
      const std::int64_t start = 100 * step;
      add_step(builder, "ProfilerStep#" + std::to_string(7 + step), start, 100);
      add_step(builder, "execute_context_0(0)_generation_8(8)", start + 10, 60);
      if (has_second) add_step(builder, "execute_context_0(0)_generation_8(8)", start + 75, 5);
      add_launch(builder, start + 15, 1 + step);
      add_kernel(builder, "gemm", start + 30, 60, 1 + step);
    }
    const Trace trace = fixtures::finished(builder);
    return serving_phases(trace, {.by_batch = false}).phases.front();
  };
  const ServingPhase one = made(false);
  EXPECT_EQ(one.gap_median_ns, 20 * kUs);
  EXPECT_EQ(one.host_median_ns, 60 * kUs);
  EXPECT_EQ(one.duration_median_ns, 80 * kUs);
  EXPECT_EQ(one.kernel_ns, 240 * kUs);
  EXPECT_THAT(one.tokens_per_s(), Optional(testing::DoubleEq(32 / 380e-6)));
  const ServingPhase two = made(true);
  EXPECT_EQ(two.gap_median_ns, 0);
  EXPECT_EQ(two.host_median_ns, 100 * kUs);
}

TEST(ServingPhases, AreNotThoseOfTraining) {
  TraceBuilder builder;
  add_step(builder, "ProfilerStep#1", 0, 10);
  add_step(builder, "ProfilerStep#2", 10, 10);
  const Trace trace = fixtures::finished(builder);
  EXPECT_THAT(serving_phases(trace).phases, IsEmpty());
}

TEST(ServingPhases, OfThreadsThatIterateSideBySideAreNotTold) {
  TraceBuilder builder;
  add_step(builder, decode_of(1), 0, 10, 1);
  add_step(builder, decode_of(1), 0, 10, 2);
  const Trace trace = fixtures::finished(builder);
  EXPECT_THAT(trace.steps(), IsEmpty());
  EXPECT_THAT(serving_phases(trace).phases, IsEmpty());
}

}  // namespace
}  // namespace tbtrace
