#include "analyses/steps/inferred.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/trace_rows.h"

namespace tbtrace::analyses {
namespace {

using fixtures::add;
using fixtures::finished;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

/// The steps in a trace of annotations, as pairs of row and number.
std::vector<std::pair<std::size_t, std::int64_t>> steps(
    const std::vector<std::string_view>& names, std::string_view category = "user_annotation") {
  TraceBuilder builder;
  std::int64_t start = 0;
  for (const std::string_view name : names) {
    add(builder, {.category = category, .name = name, .start = start += 10, .duration = 5});
  }
  const Trace trace = finished(builder);
  std::vector<std::pair<std::size_t, std::int64_t>> steps;
  for (const Step& step : inferred_steps(trace)) steps.emplace_back(index(step.event), step.number);
  return steps;
}

TEST(InferredSteps, AreAnnotationsThatCount) {
  for (const std::string_view name : {"Iteration 7", "iter7", "## step 7 ##", "train_batch=7",
                                      "Step#7", "epoch step: 7", "[ITERATION 7]", "batch_7!"}) {
    EXPECT_THAT(steps({name}), ElementsAre(Pair(0, 7))) << name;
  }
}

TEST(InferredSteps, OfSeveralEpochsAreNumberedInOrder) {
  EXPECT_THAT(steps({"epoch 1 step 7", "epoch 1 step 8"}), ElementsAre(Pair(0, 7), Pair(1, 8)));
  EXPECT_THAT(steps({"epoch 0 step 0", "epoch 0 step 1", "epoch 1 step 0"}),
              ElementsAre(Pair(0, 0), Pair(1, 1), Pair(2, 2)));
}

TEST(InferredSteps, AreNothingElse) {
  for (const std::string_view name :
       {"", "7", "step", "forward 7", "step 7a", "step 7 of ten", "steps 7", "step 1/10",
        "layer1 step 7", "epoch 7", "step -", "step 99999999999999999999999"}) {
    EXPECT_THAT(steps({name}), IsEmpty()) << name;
  }
  EXPECT_THAT(steps({"Iteration 7"}, "cpu_op"), IsEmpty());
  EXPECT_THAT(steps({"Iteration 7"}, "gpu_user_annotation"), IsEmpty());
  EXPECT_THAT(steps({}), IsEmpty());
}

TEST(InferredSteps, AreThoseOfTheMostFrequentWording) {
  EXPECT_THAT(steps({"batch 1", "step 5", "step 6", "batch 2", "step 7"}),
              ElementsAre(Pair(1, 5), Pair(2, 6), Pair(4, 7)));
  EXPECT_THAT(steps({"## STEP 1 ##", "step: 2", "batch 1"}), ElementsAre(Pair(0, 1), Pair(1, 2)))
      << "case and marks do not matter";
}

TEST(InferredSteps, AreNoneWhereTheTraceHasSteps) {
  EXPECT_THAT(steps({"Iteration 1", "Iteration 2", "ProfilerStep#1"}), IsEmpty());
}

TEST(InferredSteps, HaveALength) {
  TraceBuilder builder;
  add(builder, {.category = "user_annotation", .name = "step 1", .duration = 0});
  const EventId second =
      add(builder, {.category = "user_annotation", .name = "step 2", .duration = 3});
  const std::vector<Step> steps = inferred_steps(finished(builder));
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].event, second);
}

TEST(InferredSteps, AreSortedByEvent) {
  TraceBuilder builder;
  add(builder, {.category = "user_annotation", .name = "step 2", .start = 90, .duration = 3});
  add(builder, {.category = "user_annotation", .name = "step 1", .start = 10, .duration = 3});
  const std::vector<Step> steps = inferred_steps(finished(builder));
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(index(steps[0].event), 0u);
  EXPECT_EQ(steps[0].number, 2);
  EXPECT_EQ(steps[1].number, 1);
}

TEST(InferredSteps, AreIterationsOfServingEngines) {
  EXPECT_THAT(steps({"execute_context_1(512)_generation_0(0)", "aten::mm",
                     "execute_context_0(0)_generation_4(4)"}),
              ElementsAre(Pair(0, 0), Pair(2, 1)));
  EXPECT_THAT(steps({"execute_new_1_cached_3"}), ElementsAre(Pair(0, 0)));
  EXPECT_THAT(steps({"step[EXTEND bs=1 toks=1025]", "step[DECODE bs=64]"}),
              ElementsAre(Pair(0, 0), Pair(1, 1)));
  EXPECT_THAT(steps({"prefill[bs=2 tok=16]", "dummy_decode[bs=1]", "decode[bs=1]"}),
              ElementsAre(Pair(0, 0), Pair(2, 1)));
}

TEST(InferredSteps, HaveTheNumberOfTheIteration) {
  EXPECT_THAT(steps({"[Executor] _forward_step 60000: 0 ctx reqs, 4 gen reqs",
                     "[Executor] _forward_step 60001: 1 ctx reqs, 4 gen reqs"}),
              ElementsAre(Pair(0, 60000), Pair(1, 60001)));
  EXPECT_THAT(steps({"[Executor] _forward_step: 1 ctx reqs, 0 gen reqs"}), ElementsAre(Pair(0, 0)));
}

TEST(InferredSteps, AreCommonWordsThatRepeat) {
  EXPECT_THAT(steps({"train"}), IsEmpty());
  EXPECT_THAT(steps({"train", "train"}), ElementsAre(Pair(0, 0), Pair(1, 1)));
  EXPECT_THAT(steps({"train", "train"}, ""), ElementsAre(Pair(0, 0), Pair(1, 1)))
      << "ranges without a category, such as JAX's";
  EXPECT_THAT(steps({"train_step", "train", "train_step"}), ElementsAre(Pair(0, 0), Pair(2, 1)));
}

TEST(InferredSteps, AreCountedAnnotationsRatherThanIterations) {
  EXPECT_THAT(steps({"step 4", "gpu_model_runner: forward"}), ElementsAre(Pair(0, 4)));
}

TEST(InferredSteps, ArePythonFrames) {
  const std::string_view frames = "python_function";
  EXPECT_THAT(steps({"vllm/v1/worker/gpu_worker.py(368): execute_model", "a.py(1): f"}, frames),
              ElementsAre(Pair(0, 0)));
  EXPECT_THAT(steps({"/opt/sglang/srt/managers/scheduler.py(9): run_batch"}, frames),
              ElementsAre(Pair(0, 0)));
  EXPECT_THAT(steps({"notvllm/worker.py(368): execute_model"}, frames), IsEmpty());
  EXPECT_THAT(steps({"main.py(3): train_step", "main.py(3): train_step"}, frames),
              ElementsAre(Pair(0, 0), Pair(1, 1)));
}

TEST(InferredSteps, OfARewrittenTraceAreAnnotations) {
  TraceBuilder builder;
  add(builder, {.category = "python_function",
                .name = "vllm/v1/worker/gpu_worker.py(368): execute_model",
                .duration = 9});
  const Trace trace = finished(builder);
  EXPECT_EQ(inferred_steps(trace).size(), 1u);
  EXPECT_THAT(inferred_annotation_steps(trace), IsEmpty());
}

TEST(InferredSteps, AreTheOutermostOfAThread) {
  TraceBuilder builder;
  const std::string_view frame = "vllm/a.py(1): execute_model";
  add(builder, {.category = "python_function", .name = frame, .start = 10, .duration = 20});
  add(builder, {.category = "python_function", .name = frame, .start = 12, .duration = 5});
  add(builder, {.category = "python_function", .name = frame, .start = 30, .duration = 5});
  const std::vector<Step> steps = inferred_steps(finished(builder));
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(index(steps[1].event), 2u);
}

TEST(NothingInferred, SaysWhatWasLookedFor) {
  TraceBuilder builder;
  add(builder, {.category = "user_annotation", .name = "forward", .duration = 1});
  const std::string text = nothing_inferred(finished(builder));
  EXPECT_THAT(text, testing::HasSubstr("SGLang (`step[* bs=#*]`, `run_batch()`"));
  EXPECT_THAT(text, testing::HasSubstr("annotations of the trace are `forward` (1)"));
}

}  // namespace
}  // namespace tbtrace::analyses
