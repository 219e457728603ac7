#include "analyses/steps/iteration_facts.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "fixtures/trace_rows.h"

namespace tbtrace::analyses {
namespace {

using fixtures::add;
using fixtures::finished;

struct Vector {
  std::string_view name;
  IterationKind kind;
  std::optional<std::int64_t> requests;
  std::optional<std::int64_t> tokens;
  std::optional<std::int64_t> padded_requests = {};
};

/// Names and figures: tests/test_annotation_utils.py of TraceLens (AMD-AGI/TraceLens), whose
/// `batch_size` is the number of tokens; kinds follow from the requests of both groups.
constexpr Vector kVectors[] = {
    {"execute_context_2(14721)_generation_0(0)", IterationKind::prefill, 2, 14721},
    {"execute_context_0(0)_generation_64(64)", IterationKind::decode, 64, 64},
    {"execute_context_0(0)_generation_32(128)", IterationKind::decode, 32, 128},
    {"execute_context_2(6144)_generation_3(3)", IterationKind::mixed, 5, 6147},
    {"execute_14721_context_2(sq14721sk14721sqsq108745533sqsk108745533)_generation_0(sq0sk0sqsq0"
     "sqsk0)",
     IterationKind::prefill, 2, 14721},
    {"execute_128_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq128sk65536sqsq512sqsk262144)",
     IterationKind::decode, 32, 128},
    {"execute_6147_context_2(sq6144sk7144sqsq20971520sqsk23019520)_generation_3(sq3sk6144sqsq3"
     "sqsk6144)",
     IterationKind::mixed, 5, 6147},
    {"step[EXTEND bs=2 toks=14721]", IterationKind::prefill, 2, 14721},
    {"step[DECODE bs=64]", IterationKind::decode, 64, 64},
    {"step[MIXED bs=2]", IterationKind::mixed, 2, {}},
    {"step[EXTEND bs=2 toks=14721 c_sq=14721 c_sqsq=108745533 c_sqsk=108745533 c_sk=14721]",
     IterationKind::prefill, 2, 14721},
    {"step[DECODE bs=64 g_sq=128 g_sqsq=256 g_sqsk=262144 g_sk=131072]", IterationKind::decode, 64,
     128},
    {"step[MIXED bs=5 c=2 g=3 c_sq=6144 c_sk=7144 c_sqsq=20971520 c_sqsk=23019520 g_sq=3 g_sk=6144 "
     "g_sqsq=3 g_sqsk=6144]",
     IterationKind::mixed, 5, 6147},
    {"step[MIXED bs=1 c=1 g=0 c_sq=3 c_sk=3 c_sqsq=9 c_sqsk=9 g_sq=0 g_sk=0 g_sqsq=0 g_sqsk=0]",
     IterationKind::prefill, 1, 3},
    {"prefill[bs=2 tok=14721 ctx=[7803, 6918]]", IterationKind::prefill, 2, 14721},
    {"prefill[bs=6 tok=17408 ctx=[4096, 4096, 4096]...+3 sqsq=59768832 sqsk=59768832 sk=17408 "
     "tbo=1]",
     IterationKind::prefill, 6, 17408},
    {"decode[bs=64 tok=64 d=64]", IterationKind::decode, 64, 64},
    {"decode[bs=117/128 tok=117 d=117]", IterationKind::decode, 117, 117, 128},
    {"decode[bs=32 tok=128 d=32 spec=3]", IterationKind::decode, 32, 128},
    {"decode[bs=128 tok=384 p=2 d=126 sqsq=132612 sqsk=1114112 sk=258048 tbo=1]",
     IterationKind::mixed, 128, 384},
    // Forms of other versions, by their sources.
    {"eager_decode[bs=4 tok=4 d=4]", IterationKind::decode, 4, 4},
    {"[Executor] _forward_step 12: 0 ctx reqs, 64 gen reqs", IterationKind::decode, 64, {}},
    {"[Executor] _forward_step: 3 ctx reqs, 1 gen reqs", IterationKind::mixed, 4, {}},
    {"execute_new_3_cached_0", IterationKind::prefill, 3, {}},
    {"execute_new_1_cached_7", IterationKind::mixed, 8, {}},
    // Requests that are not new may still read their prompts.
    {"execute_new_0_cached_8", IterationKind::unknown, 8, {}},
    {"execute_context_3", IterationKind::prefill, 3, {}},
    {"execute_context_0_generation_8", IterationKind::decode, 8, {}},
    {"execute_context_0(0)_generation_0(0)", IterationKind::idle, 0, 0},
    {"execute_diffusion_2_1024x768", IterationKind::diffusion, 2, {}},
    {"step[TARGET_VERIFY bs=8]", IterationKind::decode, 8, {}},
    {"step[DRAFT_EXTEND bs=8 toks=32]", IterationKind::draft, 8, {}},
    {"step[DRAFT_LOOP raw_bs=5 bs=8 topk=1]", IterationKind::draft, 5, {}, 8},
};

TEST(IterationFacts, AreThoseOfTheName) {
  for (const Vector& vector : kVectors) {
    const IterationFacts facts = iteration_facts(vector.name);
    EXPECT_EQ(facts.kind, vector.kind) << vector.name;
    EXPECT_EQ(facts.requests, vector.requests) << vector.name;
    EXPECT_EQ(facts.tokens, vector.tokens) << vector.name;
    EXPECT_EQ(facts.padded_requests, vector.padded_requests) << vector.name;
  }
}

TEST(IterationFacts, AreUnknownOfOtherNames) {
  for (const std::string_view name :
       {"", "step", "step[", "step[]", "step[DECODE]", "execute_", "execute_context_",
        "execute_context_x(1)_generation_2(2)", "execute_context_99999999999999999999(1)",
        "decode[bs=]", "[Executor] _forward_step 1: x ctx reqs, 2 gen reqs", "ProfilerStep#3"}) {
    EXPECT_EQ(iteration_facts(name).requests, std::nullopt) << name;
    EXPECT_EQ(iteration_facts(name).tokens, std::nullopt) << name;
  }
}

TEST(IterationFacts, OfAProfilersStepAreThoseOfTheIterationInIt) {
  TraceBuilder builder;
  add(builder,
      {.category = "user_annotation", .name = "ProfilerStep#3", .start = 0, .duration = 100});
  add(builder, {.category = "user_annotation",
                .name = "execute_context_1(512)_generation_0(0)",
                .start = 10,
                .duration = 80});
  add(builder,
      {.category = "user_annotation", .name = "ProfilerStep#4", .start = 100, .duration = 100});
  const Trace trace = finished(builder);
  const StepBreakdown breakdown = step_breakdown(trace);
  const std::vector<IterationFacts> facts = facts_of_steps(trace, breakdown.steps);
  ASSERT_EQ(facts.size(), 2);
  EXPECT_EQ(facts[0].kind, IterationKind::prefill);
  EXPECT_EQ(facts[1].kind, IterationKind::unknown);
}

struct Named {
  std::string_view name;
  std::int64_t duration;
};

std::string kinds_of(const std::vector<Named>& steps) {
  TraceBuilder builder;
  std::int64_t start = 0;
  for (const Named& step : steps) {
    add(builder, {.category = "user_annotation",
                  .name = step.name,
                  .start = start,
                  .duration = step.duration});
    start += step.duration + 10;
  }
  const Trace trace = finished(builder);
  std::string kinds;
  for (const IterationFacts& facts : facts_of_steps(trace, step_breakdown(trace).steps)) {
    kinds += (kinds.empty() ? "" : " ") + std::string(iteration_kind_name(facts.kind));
    if (facts.tokens) kinds += "(" + std::to_string(*facts.tokens) + ")";
  }
  return kinds;
}

TEST(IterationFacts, OfADraftModelAreNotThoseOfTheTarget) {
  EXPECT_EQ(kinds_of({{"step[EXTEND bs=1 toks=512]", 900},
                      {"step[EXTEND bs=1 toks=512]", 90},
                      {"step[DECODE bs=8]", 100},
                      {"step[DECODE bs=8]", 100},
                      {"step[TARGET_VERIFY bs=8]", 500}}),
            "prefill(512) draft draft draft decode");
  EXPECT_EQ(kinds_of({{"step[DECODE bs=8]", 100}, {"step[DECODE bs=8]", 100}}),
            "decode(8) decode(8)");
}

TEST(IterationFacts, OfChunksOfAPromptAreThoseOfTheTarget) {
  const Named chunk = {"step[EXTEND bs=1 toks=8192]", 900};
  const Named draft = {"step[EXTEND bs=1 toks=8192]", 60};
  EXPECT_EQ(kinds_of({chunk, chunk, chunk, chunk, {"step[TARGET_VERIFY bs=8]", 500}}),
            "prefill(8192) prefill(8192) prefill(8192) prefill(8192) decode");
  EXPECT_EQ(kinds_of({chunk, draft, chunk, draft, chunk, draft}),
            "prefill(8192) draft prefill(8192) draft prefill(8192) draft");
  EXPECT_EQ(kinds_of({chunk, draft, chunk, draft, chunk}),
            "prefill(8192) prefill(8192) prefill(8192) prefill(8192) prefill(8192)");
}

/// Of a step of the profiler with two iterations in it.
IterationFacts facts_of_both(std::string_view one, std::string_view other) {
  TraceBuilder builder;
  add(builder,
      {.category = "user_annotation", .name = "ProfilerStep#3", .start = 0, .duration = 100});
  add(builder, {.category = "user_annotation", .name = one, .start = 10, .duration = 20});
  add(builder, {.category = "user_annotation", .name = other, .start = 40, .duration = 20});
  const Trace trace = finished(builder);
  return facts_of_steps(trace, step_breakdown(trace).steps).at(0);
}

TEST(IterationFacts, OfADraftInAStepOfTheProfilerAreThoseOfTheTarget) {
  const IterationFacts facts =
      facts_of_both("step[DECODE bs=4]", "step[TARGET_VERIFY bs=4 g_sq=16]");
  EXPECT_EQ(facts.kind, IterationKind::decode);
  EXPECT_EQ(facts.tokens, 16);
}

TEST(IterationFacts, OfSeveralIterationsInAStepAreAddedUp) {
  const IterationFacts facts = facts_of_both("step[DECODE bs=4]", "step[EXTEND bs=4 toks=100]");
  EXPECT_EQ(facts.kind, IterationKind::unknown);
  EXPECT_EQ(facts.requests, 4);
  EXPECT_EQ(facts.tokens, 104);
}

}  // namespace
}  // namespace tbtrace::analyses
