// The step of each event, and that AnalysisContext gives the same; analysis_context_test.cc has the
// definition.
#include "analyses/attribution/open_steps.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include <tbtrace/analysis_context.h>

#include "fixtures/random_rounds.h"
#include "fixtures/trace_rows.h"

namespace tbtrace::analyses {
namespace {

using fixtures::add;
using fixtures::finished;

TEST(OpenSteps, KnowsNoStepInATraceWithoutSteps) {
  TraceBuilder builder;
  const EventId op = add(builder, {.start = 1, .duration = 2});
  const Trace trace = finished(builder);
  EXPECT_EQ(StepOfEvent(trace).of(op), std::nullopt);
}

TEST(OpenSteps, TakesTheLaunchOfADeviceActivity) {
  TraceBuilder builder;
  add(builder,
      {.category = "user_annotation", .name = "ProfilerStep#7", .start = 0, .duration = 100});
  add(builder,
      {.category = "user_annotation", .name = "ProfilerStep#8", .start = 100, .duration = 100});
  add(builder, {.category = "cuda_runtime", .start = 30, .duration = 5, .correlation = 3});
  const auto kernel_at_120 = [&](std::int64_t correlation) {
    return add(builder, {.category = "kernel",
                         .start = 120,
                         .duration = 40,
                         .thread = 7,
                         .process = 0,
                         .correlation = correlation});
  };
  const EventId launched = kernel_at_120(3);
  const EventId lost = kernel_at_120(0);
  const EventId shadow = add(builder, {.category = "gpu_user_annotation",
                                       .name = "forward",
                                       .start = 120,
                                       .thread = 7,
                                       .process = 0});
  const EventId next = add(builder, {.start = 100});
  const EventId after = add(builder, {.start = 200});
  const Trace trace = finished(builder);
  const StepOfEvent steps(trace);
  EXPECT_EQ(steps.of(launched), 7);
  EXPECT_EQ(steps.of(lost), std::nullopt);
  EXPECT_EQ(steps.of(shadow), std::nullopt);
  EXPECT_EQ(steps.of(next), 8);
  EXPECT_EQ(steps.of(after), std::nullopt);
}

/// Few times and ids, so that steps overlap and nest, start together and have no length.
Trace random_trace(std::mt19937& random) {
  TraceBuilder builder;
  const auto below = [&](int limit) {
    return static_cast<std::int64_t>(random() % static_cast<unsigned>(limit));
  };
  const std::int64_t rows = below(40);
  for (std::int64_t row = 0; row < rows; ++row) {
    fixtures::Range range = {.start = below(30),
                             .duration = below(3) == 0 ? 0 : below(25),
                             .thread = 1 + below(2),
                             .process = 1 + below(3),
                             .external_id = below(6)};
    const std::int64_t what = below(8);
    std::string name = "op";
    if (what <= 1) {
      range.category = "user_annotation";
      name = "ProfilerStep#" + std::to_string(row);
    } else if (what == 2) {
      range.category = "cuda_runtime";
      range.correlation = 1 + below(6);
    } else if (what <= 4) {
      range.category = below(5) == 0 ? "gpu_user_annotation" : "kernel";
      range.process = 0;
      range.correlation = below(8);
    }
    range.name = name;
    add(builder, range);
  }
  return finished(builder);
}

TEST(OpenSteps, OfTheOnlyProcessWithStepsAreThoseOfAll) {
  TraceBuilder builder;
  add(builder, {.category = "user_annotation",
                .name = "ProfilerStep#7",
                .start = 0,
                .duration = 100,
                .process = 1});
  const EventId op = add(builder, {.start = 50, .process = 2});
  const Trace trace = finished(builder);
  EXPECT_EQ(StepOfEvent(trace).of(op), 7);
  ASSERT_NE(AnalysisContext(trace).step_of(op), nullptr);
}

TEST(OpenSteps, EqualThoseOfTheContextOnRandomTraces) {
  std::mt19937 random(7);
  std::size_t on_host = 0;
  std::size_t on_device = 0;
  for (unsigned round = 0; round < fixtures::random_rounds(3000u); ++round) {
    SCOPED_TRACE(round);
    const Trace trace = random_trace(random);
    const AnalysisContext context(trace);
    const StepOfEvent steps(trace);
    for (const EventId event : trace.by_start()) {
      const Step* const expected = context.step_of(event);
      const std::optional<std::int64_t> found = steps.of(event);
      ASSERT_EQ(found, expected == nullptr ? std::nullopt : std::optional(expected->number));
      if (found) ++(is_device_work(trace.kind(event)) ? on_device : on_host);
    }
  }
  EXPECT_GT(on_host, fixtures::random_rounds(3000u));
  EXPECT_GT(on_device, fixtures::random_rounds(300u));
}

}  // namespace
}  // namespace tbtrace::analyses
