#include "trace/step_names.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/trace_rows.h"

namespace tbtrace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(StepNames, HaveANumber) {
  EXPECT_EQ(step_number("ProfilerStep#5"), 5);
  EXPECT_EQ(step_number("ProfilerStep#-3"), -3);
  EXPECT_EQ(step_number(step_name(INT64_MAX)), INT64_MAX);
  for (const char* name : {"ProfilerStep#", "ProfilerStep#x", "ProfilerStep5", "5", ""}) {
    EXPECT_EQ(step_number(name), std::nullopt) << name;
  }
}

TEST(StepNames, MayBeginLikeOneWithoutANumber) {
  EXPECT_TRUE(is_step_name("ProfilerStep#x"));
  EXPECT_EQ(step_number_text("ProfilerStep#x#2"), "x#2");
  EXPECT_FALSE(is_step_name("ProfilerStep*"));
}

TEST(MatchesPattern, ComparesTextNumbersAndAnyText) {
  EXPECT_TRUE(matches_pattern("", ""));
  EXPECT_TRUE(matches_pattern("", "*"));
  EXPECT_TRUE(matches_pattern("step[DECODE bs=4]", "step[*]"));
  EXPECT_TRUE(matches_pattern("step[]]", "step[*]"));
  EXPECT_TRUE(matches_pattern("execute_new_12_cached_0", "execute_new_#_cached_#"));
  EXPECT_TRUE(matches_pattern("a1b22c", "*#c"));
  EXPECT_FALSE(matches_pattern("step", "step[*]"));
  EXPECT_FALSE(matches_pattern("step[x", "step[*]"));
  EXPECT_FALSE(matches_pattern("execute_new__cached_0", "execute_new_#_cached_#"));
  EXPECT_FALSE(matches_pattern("execute_new_1_cached_0 ", "execute_new_#_cached_#"));
  EXPECT_FALSE(matches_pattern("#", "#"));
  EXPECT_FALSE(matches_pattern("", "a"));
}

TEST(IterationNames, HavePatternsAndFramesOfEnginesAFolder) {
  for (const IterationName& iteration : iteration_names()) {
    EXPECT_FALSE(iteration.patterns[0].empty());
    const bool is_frame = iteration.place == IterationPlace::python_frame;
    EXPECT_EQ(is_frame && !iteration.engine.empty(), !iteration.folder.empty());
    EXPECT_EQ(iteration.engine.empty(), iteration.is_common_word);
  }
}

/// The numbers of the steps of a trace with these annotations, one after the other.
std::vector<std::int64_t> steps_of(const std::vector<std::string_view>& names) {
  TraceBuilder builder;
  std::int64_t start = 0;
  for (const std::string_view name : names) {
    fixtures::add(
        builder,
        {.category = "user_annotation", .name = name, .start = start += 10, .duration = 5});
  }
  const Trace trace = fixtures::finished(builder);
  std::vector<std::int64_t> numbers;
  for (const Step& step : trace.steps()) numbers.push_back(step.number);
  return numbers;
}

TEST(StepsOfEngines, AreTheIterationsOfOneEngine) {
  EXPECT_THAT(steps_of({"execute_context_1(5)_generation_0(0)", "x", "execute_new_0_cached_1"}),
              ElementsAre(0, 1));
  EXPECT_THAT(steps_of({"[Executor] _forward_step 7: 1 ctx reqs, 0 gen reqs",
                        "[Executor] _forward_step 8: 0 ctx reqs, 1 gen reqs"}),
              ElementsAre(7, 8));
  EXPECT_THAT(steps_of({"decode[bs=1 tok=1 d=1]"}), ElementsAre(0));
}

TEST(StepsOfEngines, AreNotOtherAnnotations) {
  EXPECT_THAT(steps_of({"step[3]", "step[DECODE]", "decode[x]", "prefill", "execute_model"}),
              IsEmpty());
  EXPECT_THAT(steps_of({"step[DECODE bs=1]", "decode[bs=1 tok=1 d=1]"}), IsEmpty());
}

TEST(StepsOfEngines, AreNumberedInOrderIfNumbersComeAgain) {
  const auto step = [](int number) {
    return "[Executor] _forward_step " + std::to_string(number) + ": 0 ctx reqs, 1 gen reqs";
  };
  const std::vector<std::string> names = {step(5), step(6), step(5)};
  EXPECT_THAT(steps_of({names.begin(), names.end()}), ElementsAre(0, 1, 2));
}

TEST(StepsOfEngines, AreNotRangesThatOverlapInPart) {
  TraceBuilder builder;
  for (const std::int64_t start : {0, 10, 20}) {
    fixtures::add(builder, {.category = "user_annotation",
                            .name = "step[DECODE bs=1]",
                            .start = start,
                            .duration = 15});
  }
  const Trace trace = fixtures::finished(builder);
  EXPECT_THAT(trace.steps(), IsEmpty());
}

TEST(StepsOfEngines, GiveWayToThoseOfTheProfiler) {
  EXPECT_THAT(steps_of({"ProfilerStep#3", "step[DECODE bs=1]"}), ElementsAre(3));
}

}  // namespace
}  // namespace tbtrace
