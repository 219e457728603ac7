// The host's phases in steps: by rule, and of random recordings instant by instant.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <tbtrace/steps.h>

#include "fixtures/random_rounds.h"
#include "fixtures/trace_rows.h"

namespace tbtrace {
namespace {

using fixtures::add;

void add_step(TraceBuilder& builder, std::int64_t number, std::int64_t start,
              std::int64_t duration) {
  add(builder, {.category = "user_annotation",
                .name = "ProfilerStep#" + std::to_string(number),
                .start = start,
                .duration = duration});
}

void add_operator(TraceBuilder& builder, std::string_view name, std::int64_t start,
                  std::int64_t duration, bool gradients = true, std::int64_t thread = 1) {
  const EventId event =
      add(builder, {.name = name, .start = start, .duration = duration, .thread = thread});
  if (gradients) builder.add_argument(event, Argument::sequence_number, std::int64_t{start + 1});
}

constexpr std::string_view kNode = "autograd::engine::evaluate_function: MmBackward0";

StepTime only_step(TraceBuilder& builder) {
  const StepBreakdown breakdown = step_breakdown(fixtures::finished(builder));
  EXPECT_EQ(breakdown.steps.size(), 1U);
  return breakdown.steps.front();
}

TEST(StepPhases, OfATrainingStepOfPython) {
  TraceBuilder builder;
  add_step(builder, 1, 0, 100);
  add(builder, {.category = "user_annotation",
                .name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                .start = 5,
                .duration = 10});
  add_operator(builder, "aten::stack", 6, 4);  // by the loader
  add_operator(builder, "aten::linear", 20, 5);
  add_operator(builder, "aten::relu", 30, 5);
  add_operator(builder, kNode, 40, 5, true, 9);  // on autograd's thread
  add_operator(builder, kNode, 50, 10, true, 9);
  add(builder, {.category = "user_annotation",
                .name = "Optimizer.step#SGD.step",
                .start = 70,
                .duration = 20});
  add_operator(builder, "aten::add_", 72, 5, false);
  const StepTime step = only_step(builder);
  EXPECT_EQ(step.ns(StepPhase::data), 10);
  EXPECT_EQ(step.ns(StepPhase::forward), 15) << "with the time between two operators";
  EXPECT_EQ(step.ns(StepPhase::backward), 20) << "with the time between two nodes";
  EXPECT_EQ(step.ns(StepPhase::optimizer), 20);
  EXPECT_EQ(step.unphased_ns(), 35);
}

TEST(StepPhases, OfAProgramThatDoesNotMarkItsOptimizer) {
  TraceBuilder builder;
  add_step(builder, 1, 0, 100);
  add_operator(builder, "aten::zero_", 0, 5, false);  // before the backward pass
  add_operator(builder, "aten::linear", 10, 10);
  add_operator(builder, kNode, 30, 20);
  add_operator(builder, "aten::mm", 35, 5);
  add_operator(builder, "aten::add_", 60, 5, false);
  add_operator(builder, "aten::add_", 70, 5, false);
  const StepTime step = only_step(builder);
  EXPECT_EQ(step.ns(StepPhase::forward), 20);
  EXPECT_EQ(step.ns(StepPhase::backward), 20);
  EXPECT_EQ(step.ns(StepPhase::optimizer), 15);
}

TEST(StepPhases, OfAProgramWithoutAnOptimizerHaveNone) {
  TraceBuilder builder;
  add_step(builder, 1, 0, 100);
  add_operator(builder, "aten::linear", 10, 10);
  add_operator(builder, kNode, 30, 20);
  add_operator(builder, "aten::empty", 60, 5, false);
  add_operator(builder, "aten::copy_", 80, 5, false);
  const StepTime step = only_step(builder);
  EXPECT_EQ(step.ns(StepPhase::optimizer), 0);
  EXPECT_EQ(step.ns(StepPhase::forward), 10);
  EXPECT_EQ(step.unphased_ns(), 70);
}

TEST(StepPhases, OfAnOptimizerInHooksOfTheBackwardPass) {
  TraceBuilder builder;
  add_step(builder, 1, 0, 100);
  add_operator(builder, "aten::linear", 10, 10);
  add_operator(builder, kNode, 30, 50, true, 9);
  add(builder, {.category = "user_annotation",
                .name = "Optimizer.step#AdamW.step",
                .start = 40,
                .duration = 15,
                .thread = 9});
  const StepTime step = only_step(builder);
  EXPECT_EQ(step.ns(StepPhase::optimizer), 15);
  EXPECT_EQ(step.ns(StepPhase::backward), 35);
}

TEST(StepPhases, OfStepsWhoseKernelsRunLaterAreThoseOfTheHost) {
  TraceBuilder builder;
  for (std::int64_t step = 0; step < 3; ++step) {
    const std::int64_t start = 100 * step;
    add_step(builder, step, start, 100);
    add_operator(builder, "aten::linear", start, 40);
    add_operator(builder, kNode, start + 45, 20);
    add(builder, {.category = "user_annotation",
                  .name = "Optimizer.step#SGD.step",
                  .start = start + 80,
                  .duration = 10});
    add(builder, {.category = "cuda_runtime",
                  .name = "cudaLaunchKernel",
                  .start = start + 10,
                  .duration = 1,
                  .correlation = step + 1});
    add(builder, {.category = "kernel",
                  .name = "gemm",
                  .start = 500 + 300 * step,
                  .duration = 300,
                  .thread = 7,
                  .process = 0,
                  .correlation = step + 1});
  }
  const StepBreakdown breakdown =
      step_breakdown(fixtures::finished(builder), {.keep_tail_steps = true});
  ASSERT_EQ(breakdown.steps.size(), 3U);
  for (const StepTime& step : breakdown.steps) {
    EXPECT_EQ(step.host_duration_ns(), 100);
    EXPECT_EQ(step.phase_ns, (std::array<std::int64_t, kStepPhases>{40, 20, 10, 0})) << step.name;
    EXPECT_EQ(step.unphased_ns(), 30);
  }
  EXPECT_EQ(breakdown.mean_host_duration_ns(), 100);
}

TEST(StepPhases, OfAProgramThatMarksItsOptimizerGuessNothing) {
  TraceBuilder builder;
  add_step(builder, 1, 0, 100);
  add_operator(builder, "aten::linear", 10, 10);
  add_operator(builder, kNode, 30, 20);
  add(builder, {.category = "user_annotation",
                .name = "Optimizer.step#SGD.step",
                .start = 50,
                .duration = 10});
  add_operator(builder, "aten::topk", 70, 20, false);  // a metric
  const StepTime step = only_step(builder);
  EXPECT_EQ(step.ns(StepPhase::optimizer), 10);
  EXPECT_EQ(step.ns(StepPhase::forward), 30);
}

TEST(StepPhases, OfInferenceAreForwardOnly) {
  TraceBuilder builder;
  add_step(builder, 1, 0, 50);
  add_operator(builder, "aten::linear", 10, 10, false);
  add_operator(builder, "aten::relu", 25, 10, false);
  const StepTime step = only_step(builder);
  EXPECT_EQ(step.ns(StepPhase::forward), 25);
  EXPECT_EQ(step.ns(StepPhase::optimizer), 0);
}

TEST(StepPhases, FollowTheProgramsAnnotations) {
  TraceBuilder builder;
  add_step(builder, 1, 0, 100);
  const std::array<std::string_view, 4> names = {"## forward ##", "Backward Pass", "[optimizer]",
                                                 "load data"};
  for (std::size_t at = 0; at < names.size(); ++at) {
    add(builder, {.category = "user_annotation",
                  .name = names[at],
                  .start = static_cast<std::int64_t>(20 * at),
                  .duration = static_cast<std::int64_t>(10 + at)});
  }
  const StepTime step = only_step(builder);
  EXPECT_EQ(step.phase_ns, (std::array<std::int64_t, kStepPhases>{10, 11, 12, 13}));
}

TEST(StepPhases, DoNotCountOtherThreads) {
  TraceBuilder builder;
  add_step(builder, 1, 0, 50);
  add_operator(builder, "aten::pin_memory", 10, 30, false, 5);
  EXPECT_EQ(only_step(builder).unphased_ns(), 50);
}

TEST(StepPhases, OfATraceWithoutStepsDoNotCountTheTimeBetweenOperators) {
  TraceBuilder builder;
  add_operator(builder, "aten::linear", 10, 10, false);
  add_operator(builder, "aten::linear", 1000, 10, false);
  const StepTime step = only_step(builder);
  EXPECT_EQ(step.name, "[all]");
  EXPECT_EQ(step.ns(StepPhase::forward), 20);
}

/// Steps and flat ranges: the phases' rules without nesting, which the cases above have.
class RandomPhases {
 public:
  struct Row {
    std::optional<StepPhase> phase;
    std::int64_t start, end;
  };

  explicit RandomPhases(unsigned seed) : random_(seed) {}

  Trace make() {
    std::int64_t at = below(5);
    for (std::int64_t number = 0, count = 1 + below(3); number < count; ++number) {
      const std::int64_t duration = 1 + below(25);
      add_step(builder_, number, at, duration);
      at += duration + below(3);
    }
    for (auto count = below(16); count > 0; --count) add_row();
    return fixtures::finished(builder_);
  }

  const std::vector<Row>& rows() const { return rows_; }

 private:
  std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>(random_() % static_cast<unsigned long>(limit));
  }

  void add_row() {
    struct Kind {
      std::string_view category, name;
      std::int64_t thread;
      std::optional<StepPhase> phase;
    };
    static constexpr std::array<Kind, 8> kKinds = {{
        {"cpu_op", "aten::mm", 1, StepPhase::forward},
        {"cpu_op", "aten::mm", 1, StepPhase::forward},
        {"cpu_op", "aten::mm", 2, std::nullopt},
        {"cpu_op", "autograd::engine::evaluate_function: X", 9, StepPhase::backward},
        {"cpu_op", "MulBackward0", 9, StepPhase::backward},
        {"user_annotation", "Optimizer.step#Adam.step", 1, StepPhase::optimizer},
        {"user_annotation", "enumerate(DataLoader)#x.__next__", 1, StepPhase::data},
        {"user_annotation", "mine", 1, std::nullopt},
    }};
    const Kind& kind = kKinds[static_cast<std::size_t>(below(kKinds.size()))];
    const std::int64_t start = below(70);
    const std::int64_t duration = below(9);
    add(builder_, {.category = kind.category,
                   .name = kind.name,
                   .start = start,
                   .duration = duration,
                   .thread = kind.thread});
    rows_.push_back({kind.phase, start, start + duration});
  }

  std::mt19937 random_;
  TraceBuilder builder_;
  std::vector<Row> rows_;
};

std::optional<StepPhase> phase_at(const std::vector<RandomPhases::Row>& rows,
                                  std::int64_t instant) {
  for (const StepPhase phase :
       {StepPhase::data, StepPhase::optimizer, StepPhase::backward, StepPhase::forward}) {
    for (const RandomPhases::Row& row : rows) {
      if (row.phase == phase && row.start <= instant && instant < row.end) return phase;
    }
  }
  return std::nullopt;
}

TEST(StepPhases, MatchTheirDefinitionOnRandomTraces) {
  std::map<StepPhase, int> seen;
  for (unsigned seed = 0; seed < fixtures::random_rounds(3000u); ++seed) {
    SCOPED_TRACE(seed);
    RandomPhases random(seed);
    const Trace trace = random.make();
    for (const StepTime& step : step_breakdown(trace, {.keep_tail_steps = true}).steps) {
      std::array<std::int64_t, kStepPhases> expected = {};
      std::optional<StepPhase> before;
      std::int64_t between = 0;
      for (std::int64_t instant = step.start_ns; instant < step.end_ns; ++instant) {
        const std::optional<StepPhase> phase = phase_at(random.rows(), instant);
        if (!phase) {
          ++between;
          continue;
        }
        const bool same = before == phase;
        expected[static_cast<std::size_t>(*phase)] += 1 + (same ? between : 0);
        before = phase;
        between = 0;
        ++seen[*phase];
      }
      ASSERT_EQ(step.phase_ns, expected) << step.name;
    }
  }
  for (const auto& [phase, count] : seen)
    EXPECT_GT(count, fixtures::random_rounds(1000)) << step_phase_name(phase);
  EXPECT_EQ(seen.size(), kStepPhases);
}

}  // namespace
}  // namespace tbtrace
