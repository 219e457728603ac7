// Steps of inference engines, by kind and batch.
#include "analyses/changes/phases.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tbtrace/diff.h>

#include "fixtures/chrome_text.h"
#include "fixtures/read_text.h"

namespace tbtrace::analyses {
namespace {

using fixtures::ChromeEvent;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Iterations with these names and lengths in us, one after the other.
RunFigures run_of(const std::vector<std::pair<std::string, int>>& iterations) {
  std::vector<ChromeEvent> events;
  int at = 0;
  for (const auto& [name, length] : iterations) {
    events.push_back(fixtures::op(name, std::to_string(at), std::to_string(length))
                         .with("cat", "\"user_annotation\""));
    at += length;
  }
  RunSum sum("run");
  const Trace trace =
      fixtures::read(fixtures::trace_text(events), {.threads = 1, .arguments = diff_arguments()});
  EXPECT_TRUE(sum.add(trace).ok());
  return sum.figures();
}

std::vector<std::string> keys_of(const RunFigures& run) {
  std::vector<std::string> keys;
  for (const RunPhase& phase : run.phases) keys.push_back(phase.key);
  return keys;
}

const std::string kDecode = "execute_context_0(0)_generation_64(64)";
const std::string kPrefill = "execute_context_1(2000)_generation_0(0)";

TEST(PhasesOfRuns, AreStepsOfNearlyTheSameWork) {
  EXPECT_THAT(keys_of(run_of({{kDecode, 9},
                              {"execute_context_0(0)_generation_57(57)", 9},
                              {"execute_context_0(0)_generation_4(4)", 9},
                              {"execute_context_0(0)_generation_5(5)", 9},
                              {"execute_context_0(0)_generation_257(257)", 9},
                              {kPrefill, 9},
                              {"execute_context_2(1025)_generation_0(0)", 9},
                              {"execute_context_1(1)_generation_0(0)", 9}})),
              ElementsAre("decode of 257 to 272 requests", "decode of 4 requests",
                          "decode of 5 to 8 requests", "decode of 57 to 64 requests",
                          "prefill of 1 token", "prefill of 1025 to 2048 tokens"));
  EXPECT_THAT(keys_of(run_of({{"ProfilerStep#1", 9}, {"ProfilerStep#2", 9}})), IsEmpty());
}

TEST(PhasesOfRuns, HaveTheSumsOfTheirSteps) {
  RunPhaseRank sum{.rank = 1, .steps = 1, .duration_ns = 10};
  sum.add({.rank = 2, .steps = 2, .duration_ns = 5, .launches = 3});
  EXPECT_EQ(sum, (RunPhaseRank{.rank = 1, .steps = 3, .duration_ns = 15, .launches = 3}));
}

TEST(PhasesOfRuns, AColdFirstStepDoesNotStandForAllOfItsKind) {
  const RunFigures base = run_of({{kDecode, 10}, {kPrefill, 90}, {kDecode, 10}, {kDecode, 10}});
  const RunFigures changed =
      run_of({{kPrefill, 900}, {kDecode, 10}, {kPrefill, 90}, {kPrefill, 90}});
  EXPECT_DOUBLE_EQ(diff({&base, 1}, {&changed, 1})->step.change, 0);
}

TEST(PhasesOfRuns, OfManyKindsAreAllCompared) {
  std::vector<std::pair<std::string, int>> iterations;
  for (int tokens = 1; tokens < 4000; tokens *= 2) {
    iterations.emplace_back("execute_context_1(" + std::to_string(tokens) + ")_generation_0(0)", 9);
  }
  const RunFigures run = run_of(iterations);
  EXPECT_EQ(run.phases.size(), 12U);
  const Diff found = *diff({&run, 1}, {&run, 1});
  EXPECT_EQ(found.batches, "");
  EXPECT_EQ(found.phases.size(), 8U) << "the largest are shown";
}

TEST(PhasesOfRuns, OfOtherBatchesCountAsOftenAsInTheBase) {
  const RunFigures base = run_of({{kDecode, 10}, {kDecode, 10}, {kDecode, 10}, {kPrefill, 90}});
  const RunFigures changed =
      run_of({{kDecode, 10}, {kPrefill, 90}, {kPrefill, 90}, {kPrefill, 90}});
  const Diff found = *diff({&base, 1}, {&changed, 1});
  EXPECT_DOUBLE_EQ(found.step.change, 0);
  EXPECT_THAT(found.batches, HasSubstr("100.0 % of the time of the base's steps"));
  ASSERT_EQ(found.phases.size(), 2U);
  EXPECT_EQ(found.phases[0].base.steps, 3U);
  EXPECT_EQ(found.phases[0].changed.steps, 1U);
  EXPECT_THAT(diff_phases_report(found).table.rows.size(), 2U);
}

TEST(PhasesOfRuns, OfOneSideAreNotCompared) {
  const RunFigures base = run_of({{kDecode, 10}, {kDecode, 10}});
  const RunFigures changed = run_of({{kDecode, 20}, {kDecode, 20}, {kPrefill, 400}});
  const Diff found = *diff({&base, 1}, {&changed, 1});
  EXPECT_DOUBLE_EQ(found.step.change, 1);
  EXPECT_EQ(found.phases.back().change_ns, std::nullopt);
  const RunFigures other = run_of({{kPrefill, 400}, {kPrefill, 400}});
  EXPECT_THAT(diff({&base, 1}, {&other, 1})->batches, HasSubstr("no kind and size"));
}

TEST(PhasesOfRuns, OfEqualBatchesAreComparedAsTheyAre) {
  const RunFigures base = run_of({{kDecode, 10}, {kPrefill, 90}});
  const RunFigures changed = run_of({{kDecode, 10}, {kPrefill, 90}, {kDecode, 10}, {kPrefill, 90}});
  EXPECT_THAT(diff({&base, 1}, {&changed, 1})->batches, IsEmpty());
  RunFigures baseline = base;
  baseline.phases.clear();
  EXPECT_THAT(diff({&baseline, 1}, {&changed, 1})->batches,
              HasSubstr("a baseline, which keeps no kinds"));
}

}  // namespace
}  // namespace tbtrace::analyses
