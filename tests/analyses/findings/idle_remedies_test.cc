// What is advised about idle time, by what the trace has of it.
#include "analyses/findings/idle_remedies.h"

#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/trace_rows.h"

namespace tbtrace::analyses {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

IdlePart part_of(IdleCause cause, std::string range, IdleGap largest = {}) {
  IdlePart part;
  part.cause = cause;
  part.ns = 1000;
  part.gaps = 10;
  part.ranges = {{std::move(range), 900}};
  part.largest = std::move(largest);
  part.largest.cause = cause;
  return part;
}

Trace empty_trace() {
  TraceBuilder builder;
  return fixtures::finished(builder);
}

class IdleRemedies : public testing::Test {
 protected:
  IdleRemedies() { facts_.device.emplace(); }

  std::string remedy(const IdlePart& part) { return idle_remedy(facts_, part, "the usual"); }

  const Trace trace_ = empty_trace();
  const StepBreakdown steps_ = {};
  FindingFacts facts_ = {.trace = trace_,
                         .steps = steps_,
                         .device = {},
                         .properties = {},
                         .kernels = {},
                         .memory = {},
                         .reserved = {},
                         .activities = {}};
};

TEST_F(IdleRemedies, GarbageThatTheProgramCollectsItself) {
  const auto collected = [&](const char* range, const char* line) {
    return remedy(part_of(IdleCause::garbage_collection, range, {.line = line}));
  };
  EXPECT_EQ(collected("Python GC", "train.py(3): step"), "the usual");
  EXPECT_THAT(collected("<built-in function collect>", "train.py(3): step"),
              HasSubstr("train.py(3): step calls gc.collect()"));
  EXPECT_THAT(collected("<built-in function collect>", ""), HasSubstr("the program calls"));
}

TEST_F(IdleRemedies, GuardsAreNotCompilation) {
  EXPECT_THAT(remedy(part_of(IdleCause::compiler, "TorchDynamo Cache Lookup")),
              HasSubstr("checks of guards"));
  IdlePart both = part_of(IdleCause::compiler, "TorchDynamo Cache Lookup");
  both.ranges.push_back({"compile_fx (dynamo_timed)", 50});
  EXPECT_EQ(remedy(both), "the usual");
}

TEST_F(IdleRemedies, MemoryThatIsFreedOutsideOfOperators) {
  IdlePart part = part_of(IdleCause::allocation, "cudaMalloc");
  EXPECT_EQ(remedy(part), "the usual");
  part.outside_operators_ns = 300;
  EXPECT_THAT(remedy(part), HasSubstr("empty_cache()"));
  EXPECT_THAT(remedy(part_of(IdleCause::allocation, "cudaHostAlloc")), HasSubstr("page-locked"));
}

TEST_F(IdleRemedies, CopiesByTheOperatorThatWaits) {
  const auto waiting = [&](const char* op) {
    return remedy(part_of(IdleCause::copies, "cudaMemcpyAsync", {.ns = 100, .op = op}));
  };
  EXPECT_THAT(waiting("aten::_local_scalar_dense"), HasSubstr(".item()"));
  EXPECT_THAT(waiting("aten::nonzero"), HasSubstr("mask"));
  EXPECT_THAT(waiting("aten::repeat_interleave"), HasSubstr("output_size"));
  EXPECT_EQ(waiting("aten::copy_"), "the usual");
}

TEST_F(IdleRemedies, WhatRunsAfterAWaitIsNamedIfItHasMostOfTheGap) {
  for (const auto cause : {IdleCause::copies, IdleCause::synchronization}) {
    const auto after = [&](std::int64_t ns) {
      return remedy(part_of(cause, "wait", {.ns = 100, .host = "engine.py(7): f", .host_ns = ns}));
    };
    EXPECT_THAT(after(60), HasSubstr("engine.py(7): f"));
    EXPECT_THAT(after(40), Not(HasSubstr("engine.py(7): f")));
  }
}

TEST_F(IdleRemedies, OptimizersByTheirClassAndByWhatIsInUse) {
  const auto step_of = [&](const char* name) {
    return remedy(part_of(IdleCause::code, std::string("Optimizer.step#") + name + ".step"));
  };
  EXPECT_THAT(step_of("AdamW"), HasSubstr("else foreach=True"));
  EXPECT_THAT(step_of("DeepSpeedCPUAdam"), HasSubstr("computes on the CPU"));
  EXPECT_THAT(step_of("Shampoo"), AllOf(Not(HasSubstr("fused")), HasSubstr("cheaper")));
  facts_.has_foreach_optimizer = true;
  EXPECT_THAT(step_of("AdamW"), AllOf(HasSubstr("fused=True"), Not(HasSubstr("foreach"))));
  facts_.has_fused_optimizer = true;
  EXPECT_THAT(step_of("AdamW"), Not(HasSubstr("fused")));
}

TEST_F(IdleRemedies, StacksAreAdvisedWhereThereAreNone) {
  const IdlePart part = part_of(IdleCause::code, "tokenize");
  EXPECT_THAT(remedy(part), AllOf(HasSubstr("make \"tokenize\" cheaper, or the usual"),
                                  HasSubstr("with_stack=True")));
  facts_.has_frames = true;
  EXPECT_THAT(remedy(part), Not(HasSubstr("with_stack")));
}

TEST_F(IdleRemedies, LaunchesByWhatTheHostDid) {
  const auto launching = [&](const char* range) {
    return launch_remedy(facts_, part_of(IdleCause::launches, range));
  };
  EXPECT_THAT(launching("aten::mm"), HasSubstr("less Python"));
  EXPECT_THAT(launching("cudaLaunchKernel"), HasSubstr("launch calls themselves"));
  EXPECT_THAT(launching("cudaGraphInstantiateWithFlags_v11040"), HasSubstr("few shapes"));
  IdlePart on_cpu = part_of(IdleCause::launches, "aten::mul_");
  on_cpu.cpu_operators_ns = 501;
  EXPECT_TRUE(computes_on_cpu(on_cpu));
  EXPECT_THAT(launch_remedy(facts_, on_cpu), HasSubstr("compute on the CPU"));
  on_cpu.cpu_operators_ns = 500;
  EXPECT_FALSE(computes_on_cpu(on_cpu));
  const IdlePart buffers =
      part_of(IdleCause::launches, "aten::empty", {.op = "aten::unflatten_dense_tensors"});
  EXPECT_THAT(launch_remedy(facts_, buffers), Not(HasSubstr("broadcast_buffers")));
  facts_.has_ddp = true;
  EXPECT_THAT(launch_remedy(facts_, buffers), HasSubstr("broadcast_buffers=False"));
}

TEST_F(IdleRemedies, OtherStreamsAndRanksOnlyWhereThereAreSome) {
  IdlePart part = part_of(IdleCause::device, "");
  part.ns = 10'000'000;
  facts_.device->idle_ns = part.ns;
  facts_.streams = 1;
  EXPECT_THAT(device_remedy(facts_, part), HasSubstr("one stream only"));
  facts_.streams = 2;
  EXPECT_THAT(device_remedy(facts_, part), HasSubstr("other streams"));
  part.ns = 100'000;
  EXPECT_THAT(device_remedy(facts_, part), HasSubstr("short kernels"));
  facts_.device->idle_host_wait_ns = 6'000'000;
  EXPECT_THAT(device_remedy(facts_, part),
              AllOf(HasSubstr("let the host run ahead"), Not(HasSubstr("in time"))));
}

}  // namespace
}  // namespace tbtrace::analyses
