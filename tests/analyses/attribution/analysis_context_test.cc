// Steps, modules and operators of random traces against their definitions, each taken literally.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <tbtrace/analysis_context.h>

#include "fixtures/random_rounds.h"
#include "fixtures/trace_rows.h"

namespace tbtrace {
namespace {

using fixtures::add;
using fixtures::finished;

TEST(AnalysisContext, KnowsOperatorModuleAndStepOfAKernel) {
  TraceBuilder builder;
  const EventId step =
      add(builder,
          {.category = "user_annotation", .name = "ProfilerStep#7", .start = 0, .duration = 100});
  const EventId module = add(builder, {.category = "python_function",
                                       .name = "nn.Module: Linear_0",
                                       .start = 10,
                                       .duration = 50,
                                       .is_module = true});
  const EventId outer = add(builder, {.name = "aten::linear", .start = 20, .duration = 30});
  const EventId inner = add(builder, {.name = "aten::mm", .start = 25, .duration = 20});
  const EventId launch =
      add(builder, {.category = "cuda_runtime", .start = 30, .duration = 5, .correlation = 3});
  const EventId kernel = add(builder, {.category = "kernel",
                                       .start = 120,
                                       .duration = 40,
                                       .thread = 7,
                                       .process = 0,
                                       .correlation = 3});
  const EventId lost =
      add(builder, {.category = "kernel", .start = 200, .duration = 4, .thread = 7, .process = 0});
  const Trace trace = finished(builder);
  const AnalysisContext context(trace);

  ASSERT_EQ(context.device_links().size(), 2U);
  ASSERT_NE(context.device_link(kernel), nullptr);
  EXPECT_EQ(context.device_link(kernel)->activity, kernel);
  EXPECT_EQ(context.device_link(kernel)->launch, launch);
  EXPECT_EQ(context.operator_of(kernel), inner);
  EXPECT_EQ(context.module_of(kernel), module);
  ASSERT_NE(context.step_of(kernel), nullptr);
  EXPECT_EQ(context.step_of(kernel)->number, 7);
  EXPECT_EQ(context.step_of(kernel)->event, step);

  ASSERT_NE(context.device_link(lost), nullptr);
  EXPECT_EQ(context.device_link(lost)->launch, EventId::none);
  EXPECT_EQ(context.operator_of(lost), EventId::none);
  EXPECT_EQ(context.module_of(lost), EventId::none);
  EXPECT_EQ(context.step_of(lost), nullptr);

  EXPECT_EQ(context.device_link(outer), nullptr);
  EXPECT_EQ(context.operator_of(outer), outer);
  EXPECT_EQ(context.operator_of(module), EventId::none);
  EXPECT_EQ(context.module_of(module), module);
  EXPECT_EQ(context.step_of(step)->event, step);
  EXPECT_EQ(context.parent(inner), outer);
  EXPECT_EQ(context.parent(step), EventId::none);
  EXPECT_EQ(context.self_time_ns(outer), 10);
  EXPECT_EQ(context.self_time_ns(kernel), 0);
  EXPECT_EQ(context.busy_ns(trace.events().track(step)), 100);
  EXPECT_EQ(context.host_ranges().size(), 5U);
  EXPECT_EQ(context.host_ranges().front(), step);
}

TEST(AnalysisContext, WorksWithoutStepsAndDevices) {
  TraceBuilder builder;
  const EventId op = add(builder, {.start = 1, .duration = 2});
  const Trace trace = finished(builder);
  AnalysisContext context(trace);
  EXPECT_EQ(context.step_of(op), nullptr);
  EXPECT_TRUE(context.device_links().empty());
  const AnalysisContext moved = std::move(context);
  EXPECT_EQ(moved.operator_of(op), op);
}

TEST(AnalysisContext, FindsNothingForNoEvent) {
  TraceBuilder builder;
  add(builder, {.category = "user_annotation", .name = "ProfilerStep#1", .duration = 2});
  const Trace trace = finished(builder);
  const AnalysisContext context(trace);
  EXPECT_EQ(context.parent(EventId::none), EventId::none);
  EXPECT_EQ(context.self_time_ns(EventId::none), 0);
  EXPECT_EQ(context.device_link(EventId::none), nullptr);
  EXPECT_EQ(context.operator_of(EventId::none), EventId::none);
  EXPECT_EQ(context.module_of(EventId::none), EventId::none);
  EXPECT_EQ(context.step_of(EventId::none), nullptr);
}

TEST(AnalysisContext, StaysValidWhenItsTraceIsMoved) {
  TraceBuilder builder;
  const EventId step =
      add(builder, {.category = "user_annotation", .name = "ProfilerStep#1", .duration = 2});
  Trace trace = finished(builder);
  const AnalysisContext context(trace);
  const Trace moved = std::move(trace);
  ASSERT_NE(context.step_of(step), nullptr);
  EXPECT_EQ(context.step_of(step)->number, 1);
  EXPECT_EQ(context.parent(step), EventId::none);
}

class ContextByDefinition {
 public:
  ContextByDefinition(const Trace& trace, const AnalysisContext& context)
      : trace_(trace), context_(context) {}

  EventId operator_of(EventId event) const {
    const DeviceLink* link = context_.device_link(event);
    return up(link != nullptr ? link->op : event,
              [&](EventId range) { return trace_.kind(range) == EventKind::cpu_op; });
  }

  EventId module_of(EventId event) const {
    return up(place(event), [&](EventId range) { return trace_.name(range).starts_with("nn."); });
  }

  std::optional<std::int64_t> step_of(EventId event) const {
    const EventId range = place(event);
    if (range == EventId::none || !is_host_range(trace_.kind(range))) return std::nullopt;
    const Events& events = trace_.events();
    const std::int64_t at = events.start_ns(range);
    std::set<std::int64_t> processes;
    for (const Step& step : trace_.steps()) processes.insert(process(step.event));
    const Step* last = nullptr;
    for (const Step& step : trace_.steps()) {
      const std::int64_t start = events.start_ns(step.event);
      const bool is_open = start <= at && (at < events.end_ns(step.event) || at == start);
      const bool is_its = processes.size() == 1 || process(step.event) == process(range);
      if (is_open && is_its) last = &step;  // they come by start
    }
    return last == nullptr ? std::nullopt : std::optional(last->number);
  }

 private:
  std::int64_t process(EventId event) const {
    return trace_.track(trace_.events().track(event)).process.number;
  }

  EventId place(EventId event) const {
    const DeviceLink* link = context_.device_link(event);
    if (link == nullptr) return event;
    return link->launch != EventId::none ? link->launch : link->op;
  }

  template <typename Test>
  EventId up(EventId event, Test test) const {
    while (event != EventId::none && !test(event)) event = context_.parent(event);
    return event;
  }

  const Trace& trace_;
  const AnalysisContext& context_;
};

/// Few times and ids, so that ranges cross, steps overlap, and kernels find launches.
Trace random_trace(std::mt19937& random) {
  TraceBuilder builder;
  const auto below = [&](int limit) {
    return static_cast<std::int64_t>(random() % static_cast<unsigned>(limit));
  };
  const std::int64_t rows = below(40);
  for (std::int64_t row = 0; row < rows; ++row) {
    fixtures::Range range = {.start = below(60),
                             .duration = below(30),
                             .thread = 1 + below(2),
                             .process = 1 + below(2),
                             .external_id = below(6)};
    const std::int64_t what = below(8);
    std::string name = "op";
    if (what == 0) {
      range.category = "user_annotation";
      name = "ProfilerStep#" + std::to_string(row);
    } else if (what == 1) {
      range.category = "python_function";
      name = "nn.Module: M_" + std::to_string(row);
      range.is_module = true;
    } else if (what == 2) {
      range.category = "cuda_runtime";
      range.correlation = 1 + below(6);
    } else if (what <= 4) {
      range.category = "kernel";
      range.process = 0;
      range.correlation = below(8);
    }
    range.name = name;
    add(builder, range);
  }
  return finished(builder);
}

TEST(AnalysisContextRandom, FollowsTheDefinitions) {
  std::mt19937 random(5);
  std::size_t in_steps = 0;
  std::size_t in_modules = 0;
  std::size_t kernels = 0;
  for (int round = 0; round < fixtures::random_rounds(4000); ++round) {
    const Trace trace = random_trace(random);
    const AnalysisContext context(trace);
    const ContextByDefinition expected(trace, context);
    std::size_t links = 0;
    for (const EventId event : trace.by_start()) {
      ASSERT_EQ(context.operator_of(event), expected.operator_of(event)) << round;
      ASSERT_EQ(context.module_of(event), expected.module_of(event)) << round;
      const Step* step = context.step_of(event);
      ASSERT_EQ(step == nullptr ? std::nullopt : std::optional(step->number),
                expected.step_of(event))
          << round << ", event " << index(event);
      const bool is_activity = is_device_work(trace.kind(event));
      const DeviceLink* link = context.device_link(event);
      ASSERT_EQ(link != nullptr, is_activity);
      if (is_activity) {
        ASSERT_EQ(link->activity, event);
      }
      links += is_activity ? 1 : 0;
      kernels += is_activity && step != nullptr ? 1 : 0;
      in_steps += step != nullptr ? 1 : 0;
      in_modules += context.module_of(event) != EventId::none ? 1 : 0;
    }
    ASSERT_EQ(context.device_links().size(), links);
  }
  EXPECT_GT(in_steps, fixtures::random_rounds(5000U));
  EXPECT_GT(in_modules, fixtures::random_rounds(5000U));
  EXPECT_GT(kernels, fixtures::random_rounds(1000U));
}

}  // namespace
}  // namespace tbtrace
